"""Contract calls for actions: contracts and arguments, from the body, the stored token and the registry."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from config.http.errors import PermanentError
from config.parsing.json_rules import REQUIRED, FieldRule, InvalidFieldsError, Problem
from tokens.chains.evm.action_calls import ACTION_CALLS, LAUNCHED, PRESALES, CallTemplate
from tokens.chains.evm.swapping.swap_offers import SwapOffer
from tokens.chains.evm.unsigned_calls import UnsignedCall
from tokens.chains.launching.launch_calls import on_chain_json
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import fee_preference
from tokens.deploying import airdrop_proofs
from tokens.deploying.rules import token_texts
from tokens.deploying.sales.presale_allowlists import find_allowlist
from tokens.deploying.token_airdrops import find_claimable
from tokens.installation.installed_chains import UnsupportedChainError
from tokens.installation.installed_registry import generation_label, registry
from tokens.models import AirdropTree, SavedTree, Token

# A body's values by attribute, with `sender` and `chain_id`.
Values = Mapping[str, Any]
# Values that are the sender where a call needs them and the body has none.
_SENDERS_OWN = frozenset({"recipient", "account", "feeOwner"})
_NO_PROOF = "0x"


class UnknownTokenError(PermanentError):
    """No indexed token has the address on the chain."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WalletAction:
    """An action: its body's fields besides `from` and `chainId`, and the function that builds its calls."""

    name: str
    description: str
    fields: Mapping[str, FieldRule]
    # An offer has its simulation, too.
    build: "Callable[[WalletAction, Values], Sequence[UnsignedCall] | SwapOffer]"
    # Whether the last call creates a token, and returns its address.
    creates_token: bool = False


def token_calls(action: WalletAction, values: Values) -> list[UnsignedCall]:
    """Return the action's call for one launched token.

    Raises UnknownTokenError, UnsupportedChainError, InvalidFieldsError.
    """
    return [_token_call(action, values, token=find_token(values["chain_id"], values["token"]))]


def presale_calls(action: WalletAction, values: Values) -> list[UnsignedCall]:
    """Return the call to the chain's presale contract, or to its allow-list. Raises as `token_calls`."""
    (template,) = ACTION_CALLS[action.name][PRESALES]
    contract = _chain(values["chain_id"]).deploying(template.role)
    if contract is None:
        raise InvalidFieldsError([("chainId", f"must be a chain with a {template.role.replace('_', ' ')} contract")])
    return [template.encode(contract.address, _complete(action, template, values))]


def reward_collections(action: WalletAction, values: Values) -> list[UnsignedCall]:
    """Return a call for each token. Raises as `token_calls`."""
    return [
        _token_call(action, values, token=find_token(values["chain_id"], address), calls="collect-rewards")
        for address in dict.fromkeys(values["tokens"])
    ]


def fee_claims(action: WalletAction, values: Values) -> list[UnsignedCall]:
    """Return a collection for each token, and a claim for each currency. Raises as `token_calls`."""
    (template,) = ACTION_CALLS[action.name]["v4"]
    fee_lockers = _chain(values["chain_id"]).addresses(template.role)
    if not fee_lockers:
        raise InvalidFieldsError([("chainId", "must be a chain with a fee locker")])
    claims = [
        template.encode(fee_lockers[0], _complete(action, template, {**values, "currency": currency}))
        for currency in dict.fromkeys(values["currencies"])
    ]
    return [*reward_collections(action, values), *claims]


def airdrop_claim(action: WalletAction, values: Values) -> list[UnsignedCall]:
    """Return the claim with the body's proof, or else with the one for the stored entry. Raises as `token_calls`."""
    token, account = find_token(values["chain_id"], values["token"]), values["account"] or values["sender"]
    if (values["amount"] is None) != (values["proof"] is None):
        raise InvalidFieldsError([("proof", "must be given with amount, and amount with proof")])
    amount, proof = values["amount"], values["proof"]
    if proof is None:
        amount, proof = _find_proof(token, account=account)
    return [_token_call(action, {**values, "account": account, "amount": amount, "proof": proof}, token=token)]


def metadata_update(action: WalletAction, values: Values) -> list[UnsignedCall]:
    """Return the call with the metadata as a launch writes it. Raises as `token_calls`."""
    metadata = on_chain_json({key: values[key] for key in token_texts.METADATA})
    if len(metadata.encode()) > token_texts.MAX_ON_CHAIN_BYTES:
        most = token_texts.MAX_ON_CHAIN_BYTES
        rule = f"must have at most {most} bytes of UTF-8 with the URLs, since all of it is stored on chain"
        raise InvalidFieldsError([("description", rule)])
    return token_calls(action, {**values, "metadata": metadata})


def preference_update(action: WalletAction, values: Values) -> list[UnsignedCall]:
    """Return the call with the locker's number for the currency. Raises as `token_calls`."""
    return token_calls(action, {**values, "preference": fee_preference(values["rewardsToken"])})


def presale_purchase(action: WalletAction, values: Values) -> list[UnsignedCall]:
    """Return the purchase with the body's proof, or else with the one for the stored buyer, if there is one.

    Raises as `token_calls`, NodeUnavailableError, NoPresalesError.
    """
    proof = values["proof"]
    if proof is None:
        allowlist = find_allowlist(values["chain_id"], values["presaleId"])
        proof = allowlist.prove_buyer(values["sender"])["encodedProof"] if allowlist else None
    return presale_calls(action, {**values, "proof": proof or _NO_PROOF})


def _chain(chain_id: int) -> ChainInfo:
    info = registry().chains.get(chain_id)
    if info is None or info.is_solana:
        raise UnsupportedChainError(f"chain {chain_id} is no EVM chain of the registry")
    return info


def find_token(chain_id: int, address: str) -> Token:
    """Return the token at an address on an EVM chain. Raises UnknownTokenError, UnsupportedChainError."""
    _chain(chain_id)
    token = Token.objects.at_address(address, chain_id=chain_id).first()
    if token is None:
        raise UnknownTokenError(f"no token {address} on chain {chain_id}")
    return token


def _token_call(action: WalletAction, values: Values, *, token: Token, calls: str = "") -> UnsignedCall:
    generation = registry().generations.get(token.generation)
    templates = ACTION_CALLS[calls or action.name].get(generation.event if generation else "")
    label = generation_label(token.generation)
    if not templates:
        rule = f"must be a token whose contracts have this action; {label} contracts have none"
        raise InvalidFieldsError([(_token_field(action), rule)])
    # A generation with a function for each share takes no index.
    shares = len(templates) if len(templates) > 1 else len((token.extensions["fees"] or {}).get("recipients", ()))
    if "rewardIndex" in action.fields and values["rewardIndex"] >= shares:
        raise InvalidFieldsError([("rewardIndex", f"must be below {shares}, the number of the token's fee shares")])
    template = templates[values["rewardIndex"] if len(templates) > 1 else 0]
    of_token = {"token": token.contract_address, "positionId": int(token.position_id or 0)}
    completed = _complete(action, template, {**values, **of_token}, calls=calls, label=label)
    return template.encode(_contract(action, template, token), completed)


def _contract(action: WalletAction, template: CallTemplate, token: Token) -> str:
    """Return a token's contract (EIP-55) in the template's role. Raises InvalidFieldsError if it is unknown."""
    stored = {LAUNCHED: token.contract_address, "factory": token.factory_address, "locker": token.locker_address}
    if template.role in stored:
        addresses: Sequence[str] = (stored[template.role],) if stored[template.role] else ()
    else:
        info = _chain(token.chain_id)
        addresses = info.addresses(template.role, token.generation)
        launching = info.deploying(template.role)
        if template.role == "airdrop" and launching and _airdrop(token).get("admin") is None:
            # The first version's airdrops have no admin, and our own launches don't use its contract.
            addresses = [each for each in addresses if each != launching.address] or addresses
    if not addresses:
        raise InvalidFieldsError([(_token_field(action), f"must be a token whose {template.role} is known")])
    return addresses[0]


def _airdrop(token: Token) -> Mapping[str, Any]:
    """Return the airdrop of a token's launch. Raises InvalidFieldsError if it has none."""
    airdrop: Mapping[str, Any] | None = token.extensions["airdrop"]
    if airdrop is None:
        raise InvalidFieldsError([("tokenAddress", "must be a token with an airdrop")])
    return airdrop


def _token_field(action: WalletAction) -> str:
    return "tokenAddress" if "tokenAddress" in action.fields else "tokenAddresses"


def _complete(
    action: WalletAction, template: CallTemplate, values: Values, *, calls: str = "", label: str = ""
) -> dict[str, Any]:
    """Return the values; the sender replaces absent accounts that default to it.

    `calls` is the entry in ACTION_CALLS if its name is not the action's. Raises InvalidFieldsError for a field that the
    call lacks, and for one that it would ignore.
    """
    completed, problems = dict(values), list[Problem]()
    used = {
        name for templates in ACTION_CALLS[calls or action.name].values() for each in templates for name in each.needs
    }
    for name, key in action.fields.items():
        attribute = key.attribute or name
        if key.default is REQUIRED or attribute not in used:
            continue
        if attribute not in template.needs:
            if values[attribute] is not None:
                problems.append((name, f"must not be given for {label} tokens"))
        elif values[attribute] is None and attribute in _SENDERS_OWN:
            completed[attribute] = values["sender"]
        elif values[attribute] is None:
            problems.append((name, f"is required for {label} tokens"))
    if problems:
        raise InvalidFieldsError(problems)
    return completed


def _find_proof(token: Token, *, account: str) -> tuple[int, Sequence[str]]:
    """Return amount and proof for an account's stored entry, preferably in the tree with the root on the chain."""
    airdrop = _airdrop(token)
    entries = find_claimable(token.contract_address, account=account)
    root = airdrop.get("merkleRoot")
    entry = next((each for each in entries if each.root == root), entries[0] if entries else None)
    if entry is None:
        rule = "must have an entry that this service has for the token's airdrop; else give amount and proof"
        raise InvalidFieldsError([("account", rule)])
    model = SavedTree if entry.is_saved else AirdropTree
    return entry.amount, airdrop_proofs.read_proof(model, entry.tree_id, position=entry.position)
