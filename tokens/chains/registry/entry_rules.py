"""The rule that each value of a registry file keeps: a function that returns the value to store, or raises Broken."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from eth_utils.address import to_checksum_address

from tokens.chains.base58 import is_account

# Every token keeps the name of its generation.
LONGEST_GENERATION_NAME = 32

# Layouts of TokenCreated that the decoder knows; v1 is shared by the generations v1 and v2.
EVENTS = ("v0", "v1", "v3", "v3_1", "v4")
# Solana's programs that make launches, by the layout of their instructions: Meteora's Dynamic Bonding Curve.
PROGRAMS = ("dbc",)
# What a file calls Solana, whose id nothing public defines: it is a setting.
SOLANA = "solana"

ROLES = (
    "factory",
    "locker",
    "locker_factory",
    "fee_locker",
    "fee_spender",
    "vault",
    "airdrop",
    "dev_buy",
    "static_hook",
    "dynamic_hook",
    "mev_module",
    "presale",
    "presale_allowlist",
    "pool_extension_allowlist",
)

# The roles whose contracts emit what a launch is read from, or events after it.
EMITTING_ROLES = frozenset(
    {
        "factory",
        "locker",
        "fee_locker",
        "vault",
        "airdrop",
        "dev_buy",
        "static_hook",
        "dynamic_hook",
        "mev_module",
        "presale",
    }
)

# On Solana: who makes the pools, and by which account or signer the launchpad's own are told.
SOLANA_ROLES = ("launch_program", "launch_config", "launch_creator")

# Role -> the layouts of data that the launching side knows for it; `deploy` of a contract is one of its role's.
DEPLOY_LAYOUTS: Mapping[str, tuple[str, ...]] = {
    "factory": ("v4",),
    # The enumeration of fee currencies is encoded for the newer locker; the older one ignores its data.
    "locker": ("preferences", "plain"),
    # The fees alone up to v4.0; from v4.1 on wrapped together with a pool extension, of which we have none.
    "static_hook": ("bare", "wrapped"),
    "dynamic_hook": ("bare", "wrapped"),
    # No data for an auction of v4.0 or a delay by blocks; for fees that descend the first, the last and the seconds.
    "mev_module": ("none", "descending"),
    "vault": ("v4",),
    "airdrop": ("v4",),
    "dev_buy": ("v4",),
    "presale": ("v4",),
    "presale_allowlist": ("v4",),
}

# Uniswap's TickMath.MAX_TICK: prices beyond it don't exist.
MAX_TICK = 887272
# The v4 locker takes at most this many positions, and their shares add up to all of it.
MAX_POSITIONS = 7
ALL_BPS = 10_000

Rule = Callable[[Any], Any]


class Broken(Exception):
    """A value breaks its rule; the text says what was expected."""


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Broken("expected a text that is not empty")
    return value


def _url(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"https?://[^\s/]+(/\S*)?", value):
        raise Broken("expected an address that starts with https:// or http://")
    return value.rstrip("/")


def _network(value: object) -> str:
    # It becomes a part of the provider's addresses.
    if not isinstance(value, str) or not re.fullmatch(r"[a-z0-9_-]{1,64}", value):
        raise Broken("expected the provider's id of the network: small letters, digits, - and _")
    return value


def evm_address(value: object) -> str:
    """The EIP-55 form of an address written in that form or all in lower case."""
    if not isinstance(value, str) or not re.fullmatch(r"0x[0-9a-fA-F]{40}", value):
        raise Broken("expected 0x and 40 hexadecimal digits, in quotes")
    if int(value, 16) == 0:
        raise Broken("the zero address is no contract: leave the entry out")
    checksummed: str = to_checksum_address(value)
    # The right form isn't shown on purpose: with a mistyped digit it would be a wrong address that looks checked.
    if value not in (checksummed, value.lower()):
        raise Broken("the EIP-55 checksum is wrong: copy it anew from its source (all lower case is accepted)")
    return checksummed


def account(value: object) -> str:
    """A key of Solana as it is written."""
    if not isinstance(value, str) or not is_account(value):
        raise Broken("expected base58 of 32 bytes, in quotes, with its capital and small letters as they are")
    return value


def _whole(minimum: int, maximum: int) -> Rule:
    def check(value: object) -> int:
        # A bool is an int to Python, yet `true` is no depth.
        if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
            raise Broken(f"expected a whole number from {minimum} to {maximum}")
        return value

    return check


def _choice(kind: str, choices: Collection[str]) -> Rule:
    def check(value: object) -> str:
        if not isinstance(value, str) or value not in choices:
            raise Broken(f"unknown {kind}: expected one of {', '.join(sorted(choices))}")
        return value

    return check


tick = _whole(-MAX_TICK, MAX_TICK)

GENERATION: Mapping[str, Rule] = {"type": _text, "event": _choice("event", (*EVENTS, *PROGRAMS))}
POSITION: Mapping[str, Rule] = {"tick_lower": tick, "tick_upper": tick, "bps": _whole(1, ALL_BPS)}
# No token of note has more decimals than 36, and prices in 256 bits leave no room for them.
QUOTE_TOKEN: Mapping[str, Rule] = {"symbol": _text, "address": evm_address, "decimals": _whole(0, 36)}
QUOTE_TOKEN_OPTIONAL: Mapping[str, Rule] = {"tick": tick}
CHAIN: Mapping[str, Rule] = {"name": _text, "native": _text, "finality_depth": _whole(1, 10_000_000)}
CHAIN_OPTIONAL: Mapping[str, Rule] = {
    "explorer": _url,
    "market_network": _network,
    "wrapped_native": evm_address,
    "v3_factory": evm_address,
    "v3_position_manager": evm_address,
    "v4_pool_manager": evm_address,
    "v4_position_manager": evm_address,
    "v4_state_view": evm_address,
}
CONTRACT: Mapping[str, Rule] = {"role": _choice("role", ROLES), "address": evm_address}

# What is read of Solana is final, so that there is no depth to tell.
SOLANA_CHAIN: Mapping[str, Rule] = {"name": _text, "native": _text, "genesis_hash": account}
SOLANA_CHAIN_OPTIONAL: Mapping[str, Rule] = {
    "explorer": _url,
    "market_network": _network,
    "wrapped_native": account,
}
SOLANA_CONTRACT: Mapping[str, Rule] = {"role": _choice("role", SOLANA_ROLES), "address": account}
SOLANA_QUOTE_TOKEN: Mapping[str, Rule] = {"symbol": _text, "address": account, "decimals": _whole(0, 36)}


@dataclass(frozen=True, kw_only=True)
class ChainRules:
    """What a chain of one kind may hold in a file, and how its addresses are written."""

    required: Mapping[str, Rule]
    optional: Mapping[str, Rule]
    contract: Mapping[str, Rule]
    quote_token: Mapping[str, Rule]
    quote_token_optional: Mapping[str, Rule]
    address: Rule
    # The roles whose contracts belong to a generation.
    generation_roles: tuple[str, ...]
    # The layouts of the generations that it may have.
    events: tuple[str, ...]


EVM_RULES = ChainRules(
    required=CHAIN,
    optional=CHAIN_OPTIONAL,
    contract=CONTRACT,
    quote_token=QUOTE_TOKEN,
    quote_token_optional=QUOTE_TOKEN_OPTIONAL,
    address=evm_address,
    generation_roles=("factory",),
    events=EVENTS,
)
SOLANA_RULES = ChainRules(
    required=SOLANA_CHAIN,
    optional=SOLANA_CHAIN_OPTIONAL,
    contract=SOLANA_CONTRACT,
    quote_token=SOLANA_QUOTE_TOKEN,
    quote_token_optional={},
    address=account,
    generation_roles=SOLANA_ROLES,
    events=PROGRAMS,
)


def contract_optional(generations: Mapping[str, object], kind: ChainRules) -> Mapping[str, Rule]:
    """What a contract of a chain of this kind may have besides, where these generations exist; name -> their event.

    A generation with an event that nobody knows is none of its kind's mistakes.
    """
    known = [name for name, event in generations.items() if event in kind.events or event not in (*EVENTS, *PROGRAMS)]
    layouts = {layout for known in DEPLOY_LAYOUTS.values() for layout in known}
    return {"generation": _choice("generation", known), "note": _text, "deploy": _choice("layout", layouts)}


def rules_of(chain_key: str) -> ChainRules:
    """The rules of the chain that has this key in a file."""
    return SOLANA_RULES if chain_key == SOLANA else EVM_RULES
