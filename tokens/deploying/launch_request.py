"""The configuration of a deployment: from the body that orders one to what is to be launched.

This is its one definition. The rules for single values and for its parts are in `deploy_rules`, where pretokens find
them too; here is which keys a body has, what its parts must keep between them, and how they become a launch. What has
other keys for the same values goes the same way from `order_of` on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.settings import api_settings

from config.json_rules import FieldNames, Key, Problem, object_of, read_object
from tokens.chains.launching.launch_config import (
    AirdropShare,
    DynamicFee,
    LaunchConfig,
    OwnBuy,
    PresaleTerms,
    Reward,
    StaticFee,
    VaultShare,
)
from tokens.chains.launching.merkle import MerkleTree
from tokens.chains.protocols import Chain
from tokens.chains.registry.chains import ChainInfo
from tokens.deploying.rules import cross_field, scalars, supply_shares, token_texts
from tokens.deploying.rules import pool_fee_rules as fees
from tokens.deploying.rules.airdrop_entries import Entries, bps_of
from tokens.installation import chain_fields
from tokens.installation.installed_chains import launching_chains, registry

_PRESETS = ("standard", "project")
# In the paired token.
USUAL_MARKET_CAP = Decimal(10)
_LARGEST_CHAIN_ID = 2**63 - 1
chain_id = scalars.whole(least=1, most=_LARGEST_CHAIN_ID, unit="EIP-155's ids")
preset = scalars.choice(*_PRESETS)

_TOKEN = object_of(
    {
        "name": Key(rule=token_texts.name),
        "symbol": Key(rule=token_texts.symbol),
        "tokenAdmin": Key(rule=scalars.address),
        "image": Key(rule=token_texts.image, default=""),
        **token_texts.METADATA,
        "requestKey": Key(rule=scalars.request_key),
    }
)
_POOL = object_of(
    {
        "type": Key(rule=preset, default="standard"),
        "pairedToken": Key(rule=cross_field.paired_token, default=cross_field.WRAPPED_NATIVE),
        "initialMarketCap": Key(rule=scalars.market_cap, default=USUAL_MARKET_CAP),
    }
)


def _body(default_chain: int) -> dict[str, Key]:
    return {
        "token": Key(rule=_TOKEN),
        "rewards": Key(rule=supply_shares.rewards, default=None),
        "pool": Key(rule=_POOL, default=_POOL({})),
        "fees": Key(rule=fees.fees, default=fees.STANDARD),
        "vault": Key(rule=supply_shares.vault, default=None),
        "airdrop": Key(rule=supply_shares.airdrop, default=None),
        "presale": Key(rule=supply_shares.presale, default=None),
        "devBuy": Key(rule=supply_shares.dev_buy, default=None),
        "context": Key(rule=token_texts.context, default=token_texts.context({})),
        "chainId": Key(rule=chain_id, default=default_chain),
        "dryRun": Key(rule=scalars.flag, default=False),
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class AirdropOrder:
    """What is to be dropped: (EIP-55 account, wei) pairs as they came, their sum in wei, times in seconds."""

    # A hundred thousand of them are nothing to print.
    entries: Entries = field(repr=False)
    total: int
    bps: int
    lockup: int
    vesting: int


@dataclass(frozen=True, kw_only=True, slots=True)
class DeployOrder:
    """An order to launch a token that keeps every rule; units are those of LaunchConfig."""

    chain_id: int
    request_key: str
    dry_run: bool
    name: str
    symbol: str
    admin: str
    image: str
    # By the SDK's keys, in its order; None where a key was not given.
    metadata: dict[str, Any]
    context: dict[str, str | None]
    rewards: tuple[Reward, ...]
    preset: str
    # EIP-55.
    paired_token: str
    # Whole units of the paired token.
    market_cap: Decimal
    fees: StaticFee | DynamicFee
    vault: VaultShare | None
    airdrop: AirdropOrder | None
    presale: PresaleTerms | None
    own_buy: OwnBuy | None
    # What the order's body calls the fields that may still be refused.
    names: FieldNames


def read(body: Any) -> DeployOrder:
    """What a parsed JSON body orders. Raises ValidationError (400), which names all rules that it breaks, by field.

    The order of a token whose pair is not in the registry may still be refused by `build`.
    """
    taken, problems = read_object(body, _body(registry().default_chain.chain_id))
    if isinstance(body, dict) and "token" not in body:
        problems = [("token", "is required: name, symbol, tokenAdmin and requestKey are keys of this object")] + [
            problem for problem in problems if problem[0] != "token"
        ]
    return order_of(taken, problems, names={})


def order_of(taken: Mapping[str, Any], problems: list[Problem], *, names: FieldNames) -> DeployOrder:
    """What a body orders of which its rules took this, in the shape of `_body`, and found these problems with the rest.

    `names` are the body's for the fields of a deployment. Raises ValidationError as `read`.
    """
    info = launching_chains().get(taken["chainId"]) if "chainId" in taken else None
    found = cross_field.find_problems(taken, info=info)
    if "chainId" in taken and info is None:
        found = [("chainId", _chain_rule(taken["chainId"])), *found]
    refused = [*problems, *((names.get(at, at), words) for at, words in found)]
    if refused or info is None:
        raise _refuse(refused)
    return _order(taken, info, names)


def build(order: DeployOrder, *, chain: Chain, tree: MerkleTree | None) -> LaunchConfig:
    """What an order launches; `tree` is that of its airdrop's entries, where it has one.

    Where the registry doesn't know the paired token the chain is asked for its decimals. Raises ValidationError where
    it has none or the market cap is beyond all prices, NodeUnavailable.
    """
    if (order.airdrop is None) != (tree is None):
        raise ValueError("the tree is that of the airdrop")
    info = chain.info
    decimals = cross_field.known_decimals(order.paired_token, info=info)
    if decimals is None:
        decimals = chain.read_decimals(order.paired_token)
    if decimals is None:
        at = order.names.get("pool.pairedToken", "pool.pairedToken")
        raise _refuse([(at, f"must be an ERC-20 token on {info.name} that tells its decimals")])
    try:
        tick, positions = cross_field.place(
            order.market_cap, decimals=decimals, preset=registry().presets[order.preset]
        )
    except ValueError as error:
        at = order.names.get("pool.initialMarketCap", "pool.initialMarketCap")
        raise _refuse([(at, str(error))]) from error
    return LaunchConfig(
        chain_id=order.chain_id,
        name=order.name,
        symbol=order.symbol,
        admin=order.admin,
        image=order.image,
        metadata=token_texts.on_chain_json(order.metadata),
        context=token_texts.on_chain_json(order.context),
        paired_token=order.paired_token,
        tick=tick,
        positions=positions,
        fees=order.fees,
        rewards=order.rewards,
        vault=order.vault,
        airdrop=_airdrop_share(order, tree),
        own_buy=order.own_buy,
        presale=order.presale,
    )


def _airdrop_share(order: DeployOrder, tree: MerkleTree | None) -> AirdropShare | None:
    if order.airdrop is None or tree is None:
        return None
    return AirdropShare(
        admin=order.admin,
        bps=order.airdrop.bps,
        merkle_root=tree.root,
        lockup=order.airdrop.lockup,
        vesting=order.airdrop.vesting,
    )


def normalised(order: DeployOrder, *, tree: MerkleTree | None = None) -> dict[str, Any]:
    """The order as JSON in the keys and units of its body, with every default filled in; null is what there is none of.

    Of the airdrop's entries it has their number, their sum in wei, and the root of their tree where that is given.
    """
    token = {"name": order.name, "symbol": order.symbol, "tokenAdmin": order.admin, "image": order.image}
    pool = {
        "type": order.preset,
        "pairedToken": order.paired_token,
        "initialMarketCap": scalars.in_units(order.market_cap, 1),
    }
    return {
        "token": token | token_texts.show(order.metadata) | {"requestKey": order.request_key},
        "rewards": supply_shares.show_rewards(order.rewards),
        "pool": pool,
        "fees": fees.show(order.fees),
        "vault": order.vault and supply_shares.show_vault(order.vault),
        "airdrop": order.airdrop and _show_airdrop(order.airdrop, tree),
        "presale": order.presale and supply_shares.show_presale(order.presale),
        "devBuy": order.own_buy and supply_shares.show_own_buy(order.own_buy),
        "context": order.context,
        "chainId": order.chain_id,
    }


def _show_airdrop(airdrop: AirdropOrder, tree: MerkleTree | None) -> dict[str, Any]:
    return {
        "count": len(airdrop.entries),
        "total": str(airdrop.total),
        "merkleRoot": tree and tree.root,
        **supply_shares.show_times(lockup=airdrop.lockup, vesting=airdrop.vesting),
    }


def _order(taken: Mapping[str, Any], info: ChainInfo, names: FieldNames) -> DeployOrder:
    token, pool = taken["token"], taken["pool"]
    admin = token["tokenAdmin"]
    return DeployOrder(
        chain_id=info.chain_id,
        request_key=token["requestKey"],
        dry_run=taken["dryRun"],
        name=token["name"],
        symbol=token["symbol"],
        admin=admin,
        image=token["image"],
        metadata={key: token[key] for key in token_texts.METADATA},
        context=taken["context"],
        rewards=taken["rewards"] or supply_shares.all_to(admin),
        preset=pool["type"],
        paired_token=cross_field.pair_address(pool["pairedToken"], info=info),
        market_cap=pool["initialMarketCap"],
        fees=taken["fees"],
        vault=supply_shares.vault_share(taken["vault"], admin=admin),
        airdrop=_airdrop_order(taken["airdrop"]),
        presale=supply_shares.presale_terms(taken["presale"], admin=admin),
        own_buy=supply_shares.own_buy(taken["devBuy"], admin=admin),
        names=names,
    )


def _airdrop_order(taken: dict[str, Any] | None) -> AirdropOrder | None:
    if taken is None:
        return None
    total = sum(wei for _, wei in taken["entries"])
    return AirdropOrder(
        entries=taken["entries"],
        total=total,
        bps=bps_of(total),
        lockup=taken["lockupDuration"],
        vesting=taken["vestingDuration"],
    )


def _chain_rule(chain_id: int) -> str:
    if chain_id == registry().solana.chain_id:
        return chain_fields.chain_rule(scalars.LAUNCHING)
    chains = ", ".join(map(str, launching_chains())) or "none is set up"
    return f"must be a chain where this service launches tokens: {chains}"


def _refuse(problems: list[Problem]) -> ValidationError:
    """The 400 that names them; those of the body as a whole are under the framework's own name for it."""
    details: dict[str, list[str]] = {}
    for path, words in problems:
        details.setdefault(path or api_settings.NON_FIELD_ERRORS_KEY, []).append(words)
    return ValidationError(details)
