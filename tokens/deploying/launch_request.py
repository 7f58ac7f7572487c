"""Launch requests: body keys, validation, and conversion to a launch configuration.

A body is parsed once, into a LaunchConfig, which `launch_calls` encodes and `to_json` stores. The rules for single
values and parts are in `rules`. Bodies with other keys for the same values, as pretokens', use `combine_values`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from config.parsing import json_rules
from config.parsing.json_rules import (
    REQUIRED,
    FieldNames,
    FieldRule,
    InvalidFieldsError,
    Problem,
    format_object,
    object_of,
    parse_object,
    to_units,
)
from tokens.chains.launching.launch_config import ALL_BPS, LaunchConfig, Reward
from tokens.chains.launching.launch_ticks import place_liquidity
from tokens.chains.registry.chains import ChainInfo
from tokens.deploying import request_keys
from tokens.deploying.rules import cross_field, pool_fee_rules, scalars, supply_shares, token_texts
from tokens.installation.address_formats import evm_chain_rule
from tokens.installation.installed_registry import DefaultFor, default_chain, launching_chains, registry

_PRESETS = ("standard", "project")
# In whole paired tokens.
DEFAULT_MARKET_CAP = Decimal(10)
_LARGEST_CHAIN_ID = 2**63 - 1
chain_id_rule = json_rules.whole_number(least=1, most=_LARGEST_CHAIN_ID, unit="EIP-155's ids")
preset_rule = json_rules.choice(*_PRESETS)

_TEXTS = {
    "name": FieldRule(rule=token_texts.name),
    "symbol": FieldRule(rule=token_texts.symbol),
    "tokenAdmin": FieldRule(
        rule=scalars.address,
        attribute="admin",
        description="Account that may change the token's image and metadata.",
    ),
    "image": FieldRule(rule=token_texts.image, default=""),
}
_TOKEN = object_of(
    {
        **_TEXTS,
        **token_texts.METADATA,
        "requestKey": FieldRule(rule=request_keys.request_key, attribute="request_key"),
    },
    name="TokenShape",
    description="Name, symbol, admin and metadata of the token.",
)
_POOL = object_of(
    {
        "type": FieldRule(rule=preset_rule, attribute="preset", default="standard"),
        "pairedToken": FieldRule(
            rule=cross_field.paired_token, attribute="paired_token", default=cross_field.WRAPPED_NATIVE
        ),
        "initialMarketCap": FieldRule(
            rule=scalars.market_cap, attribute="market_cap", default=DEFAULT_MARKET_CAP, unit=1
        ),
    },
    name="PoolShape",
    description="Pool of the token.",
)
DEPLOY_BODY = object_of(
    {
        "token": FieldRule(rule=_TOKEN),
        "rewards": FieldRule(rule=supply_shares.rewards, default=(), description="Default: all to the token's admin."),
        "pool": FieldRule(rule=_POOL, default=_POOL({})),
        "fees": FieldRule(rule=pool_fee_rules.pool_fees, default=pool_fee_rules.STANDARD),
        "vault": FieldRule(
            rule=supply_shares.vault,
            default=None,
            description="With airdrop and presale at most 90 percent of the supply.",
        ),
        "airdrop": FieldRule(rule=supply_shares.airdrop, default=None),
        "presale": FieldRule(rule=supply_shares.presale, default=None),
        "devBuy": FieldRule(rule=supply_shares.dev_buy, attribute="own_buy", default=None),
        "context": FieldRule(rule=token_texts.context, default=token_texts.context({})),
        "chainId": FieldRule(
            rule=chain_id_rule, attribute="chain_id", default=None, description="Default: the registry's first chain."
        ),
        "dryRun": FieldRule(
            rule=json_rules.flag,
            attribute="dry_run",
            default=False,
            description="Validate and simulate, and return the whole configuration; nothing is sent.",
        ),
    },
    name="DeployBody",
)

# Body for a launch that the caller's own wallet signs, which is only ever simulated.
UNSIGNED_LAUNCH_KEYS = {name: key for name, key in DEPLOY_BODY.keys.items() if name != "dryRun"}


class LaunchRequestError(InvalidFieldsError):
    """A launch request's broken rules, each with the field's name in its body."""

    def __str__(self) -> str:
        path, rule = self.problems[0]
        return f"{path} {rule}" if path else rule


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchRequest:
    """Validated request to launch a token."""

    config: LaunchConfig
    request_key: str
    dry_run: bool
    # Body field names for the fields that a simulation may reject.
    names: FieldNames


def parse_launch_request(body: Any, *, unsigned: bool = False) -> LaunchRequest:
    """Parse and validate a JSON body. Raises LaunchRequestError with all broken rules, by field.

    With a paired token that is not in the registry, the simulation may still reject it. An `unsigned` launch has
    UNSIGNED_LAUNCH_KEYS, and no limit for its dev buy, which the caller pays.
    """
    parsed, problems = parse_object(body, UNSIGNED_LAUNCH_KEYS if unsigned else DEPLOY_BODY.keys)
    if unsigned:
        parsed |= {"unsigned": True, "dry_run": True}
    if parsed.get("chain_id", REQUIRED) is None:
        parsed["chain_id"] = default_chain(DefaultFor.LAUNCH).chain_id
    if isinstance(body, dict) and "token" not in body:
        problems = [("token", "is required: name, symbol, tokenAdmin and requestKey are keys of this object")] + [
            problem for problem in problems if problem[0] != "token"
        ]
    values = {**parsed.pop("token", {}), **parsed.pop("pool", {}), **parsed}
    return combine_values(values, problems, names={})


def combine_values(values: Mapping[str, Any], problems: list[Problem], *, names: FieldNames) -> LaunchRequest:
    """Validate a body's parsed values together; `problems` has the problems that parsing found.

    The values are by their attributes in LaunchConfig and LaunchRequest; `names` maps deployment fields to body fields.
    Raises LaunchRequestError.
    """
    info = launching_chains().get(values["chain_id"]) if "chain_id" in values else None
    cross_problems = list(cross_field.find_problems(values, info=info))
    if "chain_id" in values and info is None:
        cross_problems = [("chainId", _chain_rule(values["chain_id"])), *cross_problems]
    refused = [*problems, *((names.get(field, field), message) for field, message in cross_problems)]
    if refused or info is None:
        raise LaunchRequestError(refused)
    return LaunchRequest(
        config=_config(values, info), request_key=values["request_key"], dry_run=values["dry_run"], names=names
    )


def _config(values: Mapping[str, Any], info: ChainInfo) -> LaunchConfig:
    admin, vault = values["admin"], values["vault"]
    pair = cross_field.pair_address(values["paired_token"], info=info)
    decimals = cross_field.known_decimals(pair, info=info)
    preset, market_cap = registry().presets[values["preset"]], values["market_cap"]

    def with_recipient(part: Any) -> Any:
        return part and replace(part, recipient=part.recipient or admin)

    return LaunchConfig(
        chain_id=info.chain_id,
        name=values["name"],
        symbol=values["symbol"],
        admin=admin,
        image=values["image"],
        metadata={key: values[key] for key in token_texts.METADATA},
        context=values["context"],
        preset=preset,
        paired_token=pair,
        market_cap=market_cap,
        liquidity=None if decimals is None else place_liquidity(market_cap, decimals=decimals, preset=preset),
        fees=values["fees"],
        rewards=values["rewards"] or (Reward(admin=admin, recipient=admin, bps=ALL_BPS, currency="Both"),),
        # The contract would reject a vault with 0 percent.
        vault=with_recipient(vault) if vault and vault.bps else None,
        airdrop=values["airdrop"],
        presale=with_recipient(values["presale"]),
        own_buy=with_recipient(values["own_buy"]),
    )


def to_json(launch_request: LaunchRequest) -> dict[str, Any]:
    """Return the request as JSON in the keys and units of its body, with every default; null for absent parts.

    An airdrop has the number of entries, their sum in wei and the Merkle root instead of its entries.
    """
    config = launch_request.config
    metadata = {key: token_texts.METADATA[key].to_json(value) for key, value in config.metadata.items()}
    return {
        "token": format_object(config, _TEXTS) | metadata | {"requestKey": launch_request.request_key},
        "rewards": [supply_shares.reward.to_json(reward) for reward in config.rewards],
        "pool": {
            "type": config.preset.name,
            "pairedToken": config.paired_token,
            "initialMarketCap": to_units(config.market_cap, 1),
        },
        "fees": pool_fee_rules.fees_json(config.fees),
        "vault": supply_shares.vault.to_json(config.vault),
        "airdrop": supply_shares.airdrop_json(config.airdrop),
        "presale": supply_shares.presale.to_json(config.presale),
        "devBuy": supply_shares.dev_buy.to_json(config.own_buy),
        "context": config.context,
        "chainId": config.chain_id,
    }


def _chain_rule(chain_id: int) -> str:
    if chain_id == registry().solana.chain_id:
        return evm_chain_rule(scalars.LAUNCHING)
    chains = ", ".join(map(str, launching_chains())) or "none is set up"
    return f"must be a chain where this service launches tokens: {chains}"
