"""Launch requests: the keys of their body, validation, and conversion to the configuration of a launch.

The rules for single values and parts are in `rules`, which pretokens use as well. Bodies with other keys for the same
values use `combine_parts`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from config import json_rules
from config.json_rules import FieldNames, FieldRule, InvalidFieldsError, Problem, object_of, parse_object
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
from tokens.deploying import request_keys
from tokens.deploying.rules import cross_field, pool_fee_rules, scalars, supply_shares, token_texts
from tokens.deploying.rules.airdrop_entries import Entries, supply_bps
from tokens.installation.address_formats import evm_chain_rule
from tokens.installation.installed_chains import launching_chains, registry

_PRESETS = ("standard", "project")
# In units of the paired token.
DEFAULT_MARKET_CAP = Decimal(10)
_LARGEST_CHAIN_ID = 2**63 - 1
chain_id_rule = json_rules.whole_number(least=1, most=_LARGEST_CHAIN_ID, unit="EIP-155's ids")
preset_rule = json_rules.choice(*_PRESETS)

_TOKEN = object_of(
    {
        "name": FieldRule(rule=token_texts.name),
        "symbol": FieldRule(rule=token_texts.symbol),
        "tokenAdmin": FieldRule(rule=scalars.address),
        "image": FieldRule(rule=token_texts.image, default=""),
        **token_texts.METADATA,
        "requestKey": FieldRule(rule=request_keys.request_key),
    }
)
_POOL = object_of(
    {
        "type": FieldRule(rule=preset_rule, default="standard"),
        "pairedToken": FieldRule(rule=cross_field.paired_token, default=cross_field.WRAPPED_NATIVE),
        "initialMarketCap": FieldRule(rule=scalars.market_cap, default=DEFAULT_MARKET_CAP),
    }
)


def _body(default_chain: int) -> dict[str, FieldRule]:
    return {
        "token": FieldRule(rule=_TOKEN),
        "rewards": FieldRule(rule=supply_shares.rewards, default=None),
        "pool": FieldRule(rule=_POOL, default=_POOL({})),
        "fees": FieldRule(rule=pool_fee_rules.pool_fees, default=pool_fee_rules.STANDARD),
        "vault": FieldRule(rule=supply_shares.vault, default=None),
        "airdrop": FieldRule(rule=supply_shares.airdrop, default=None),
        "presale": FieldRule(rule=supply_shares.presale, default=None),
        "devBuy": FieldRule(rule=supply_shares.dev_buy, default=None),
        "context": FieldRule(rule=token_texts.context, default=token_texts.context({})),
        "chainId": FieldRule(rule=chain_id_rule, default=default_chain),
        "dryRun": FieldRule(rule=json_rules.flag, default=False),
    }


class LaunchRequestError(InvalidFieldsError):
    """Broken rules of a launch request, each with the field's name in its body."""

    def __str__(self) -> str:
        path, rule = self.problems[0]
        return f"{path} {rule}" if path else rule


@dataclass(frozen=True, kw_only=True, slots=True)
class AirdropRequest:
    """Requested airdrop: (EIP-55 account, wei) pairs in their order, their sum in wei, durations in seconds."""

    # Too many to print.
    entries: Entries = field(repr=False)
    total: int
    bps: int
    lockup: int
    vesting: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchRequest:
    """Validated request to launch a token; units are those of LaunchConfig."""

    chain_id: int
    request_key: str
    dry_run: bool
    name: str
    symbol: str
    admin: str
    image: str
    # By the SDK's keys, in its order; None for absent keys.
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
    airdrop: AirdropRequest | None
    presale: PresaleTerms | None
    own_buy: OwnBuy | None
    # Names in the request's body of the fields that `build_launch_config` may reject.
    names: FieldNames


def parse_launch_request(body: Any) -> LaunchRequest:
    """Parse and validate a JSON body. Raises LaunchRequestError with all broken rules, by field.

    With a paired token that is not in the registry, `build_launch_config` may still reject it.
    """
    parsed, problems = parse_object(body, _body(registry().default_chain.chain_id))
    if isinstance(body, dict) and "token" not in body:
        problems = [("token", "is required: name, symbol, tokenAdmin and requestKey are keys of this object")] + [
            problem for problem in problems if problem[0] != "token"
        ]
    return combine_parts(parsed, problems, names={})


def combine_parts(parsed: Mapping[str, Any], problems: list[Problem], *, names: FieldNames) -> LaunchRequest:
    """Validate the parsed parts of a body, in the shape of `_body`, together; `problems` are those of the other parts.

    `names` maps the fields of a deployment to those of the body. Raises LaunchRequestError.
    """
    info = launching_chains().get(parsed["chainId"]) if "chainId" in parsed else None
    found = cross_field.find_problems(parsed, info=info)
    if "chainId" in parsed and info is None:
        found = [("chainId", _chain_rule(parsed["chainId"])), *found]
    refused = [*problems, *((names.get(at, at), message) for at, message in found)]
    if refused or info is None:
        raise LaunchRequestError(refused)
    return _from_parts(parsed, info, names)


def build_launch_config(launch_request: LaunchRequest, *, chain: Chain, tree: MerkleTree | None) -> LaunchConfig:
    """Return the launch's configuration; `tree` is the Merkle tree of its airdrop, if it has one.

    The decimals of an unlisted paired token are read from the chain. Raises LaunchRequestError if the token has none or
    the market cap is outside the price range, NodeUnavailableError.
    """
    if (launch_request.airdrop is None) != (tree is None):
        raise ValueError("an airdrop needs its tree, and a tree its airdrop")
    info = chain.info
    decimals = cross_field.known_decimals(launch_request.paired_token, info=info)
    if decimals is None:
        decimals = chain.read_decimals(launch_request.paired_token)
    if decimals is None:
        at = launch_request.names.get("pool.pairedToken", "pool.pairedToken")
        raise LaunchRequestError([(at, f"must be an ERC-20 token on {info.name} with a `decimals()` function")])
    try:
        tick, positions = cross_field.place_positions(
            launch_request.market_cap, decimals=decimals, preset=registry().presets[launch_request.preset]
        )
    except ValueError as error:
        at = launch_request.names.get("pool.initialMarketCap", "pool.initialMarketCap")
        raise LaunchRequestError([(at, str(error))]) from error
    return LaunchConfig(
        chain_id=launch_request.chain_id,
        name=launch_request.name,
        symbol=launch_request.symbol,
        admin=launch_request.admin,
        image=launch_request.image,
        metadata=token_texts.on_chain_json(launch_request.metadata),
        context=token_texts.on_chain_json(launch_request.context),
        paired_token=launch_request.paired_token,
        tick=tick,
        positions=positions,
        fees=launch_request.fees,
        rewards=launch_request.rewards,
        vault=launch_request.vault,
        airdrop=_airdrop_share(launch_request, tree),
        own_buy=launch_request.own_buy,
        presale=launch_request.presale,
    )


def _airdrop_share(launch_request: LaunchRequest, tree: MerkleTree | None) -> AirdropShare | None:
    if launch_request.airdrop is None or tree is None:
        return None
    return AirdropShare(
        admin=launch_request.admin,
        bps=launch_request.airdrop.bps,
        merkle_root=tree.root,
        lockup=launch_request.airdrop.lockup,
        vesting=launch_request.airdrop.vesting,
    )


def to_json(launch_request: LaunchRequest, *, tree: MerkleTree | None = None) -> dict[str, Any]:
    """Return the request as JSON in the keys and units of its body, with every default; null for absent parts.

    For airdrop entries it has their number, their sum in wei, and the Merkle root if the tree is given.
    """
    token = {
        "name": launch_request.name,
        "symbol": launch_request.symbol,
        "tokenAdmin": launch_request.admin,
        "image": launch_request.image,
    }
    pool = {
        "type": launch_request.preset,
        "pairedToken": launch_request.paired_token,
        "initialMarketCap": scalars.to_units(launch_request.market_cap, 1),
    }
    return {
        "token": token
        | token_texts.metadata_json(launch_request.metadata)
        | {"requestKey": launch_request.request_key},
        "rewards": supply_shares.rewards_json(launch_request.rewards),
        "pool": pool,
        "fees": pool_fee_rules.fees_json(launch_request.fees),
        "vault": launch_request.vault and supply_shares.vault_json(launch_request.vault),
        "airdrop": launch_request.airdrop and _show_airdrop(launch_request.airdrop, tree),
        "presale": launch_request.presale and supply_shares.presale_json(launch_request.presale),
        "devBuy": launch_request.own_buy and supply_shares.dev_buy_json(launch_request.own_buy),
        "context": launch_request.context,
        "chainId": launch_request.chain_id,
    }


def _show_airdrop(airdrop: AirdropRequest, tree: MerkleTree | None) -> dict[str, Any]:
    return {
        "count": len(airdrop.entries),
        "total": str(airdrop.total),
        "merkleRoot": tree and tree.root,
        **supply_shares.lockup_json(lockup=airdrop.lockup, vesting=airdrop.vesting),
    }


def _from_parts(parsed: Mapping[str, Any], info: ChainInfo, names: FieldNames) -> LaunchRequest:
    token, pool = parsed["token"], parsed["pool"]
    admin = token["tokenAdmin"]
    return LaunchRequest(
        chain_id=info.chain_id,
        request_key=token["requestKey"],
        dry_run=parsed["dryRun"],
        name=token["name"],
        symbol=token["symbol"],
        admin=admin,
        image=token["image"],
        metadata={key: token[key] for key in token_texts.METADATA},
        context=parsed["context"],
        rewards=parsed["rewards"] or supply_shares.default_rewards(admin),
        preset=pool["type"],
        paired_token=cross_field.pair_address(pool["pairedToken"], info=info),
        market_cap=pool["initialMarketCap"],
        fees=parsed["fees"],
        vault=supply_shares.vault_share(parsed["vault"], admin=admin),
        airdrop=_airdrop_request(parsed["airdrop"]),
        presale=supply_shares.presale_terms(parsed["presale"], admin=admin),
        own_buy=supply_shares.dev_buy_terms(parsed["devBuy"], admin=admin),
        names=names,
    )


def _airdrop_request(parsed: dict[str, Any] | None) -> AirdropRequest | None:
    if parsed is None:
        return None
    total = sum(wei for _, wei in parsed["entries"])
    return AirdropRequest(
        entries=parsed["entries"],
        total=total,
        bps=supply_bps(total),
        lockup=parsed["lockupDuration"],
        vesting=parsed["vestingDuration"],
    )


def _chain_rule(chain_id: int) -> str:
    if chain_id == registry().solana.chain_id:
        return evm_chain_rule(scalars.LAUNCHING)
    chains = ", ".join(map(str, launching_chains())) or "none is set up"
    return f"must be a chain where this service launches tokens: {chains}"
