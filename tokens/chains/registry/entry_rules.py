"""Rules for single registry values: functions that return the value to store, or raise ValueError with the rule."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from config.parsing.json_rules import choice, web_address
from config.parsing.scalar_parsers import expecting, matching, parse_boolean, parse_integer
from tokens.chains.addresses import checksum_address, is_solana_address

# Every token stores its generation's name.
LONGEST_GENERATION_NAME = 32

# Settings and parameters separate such names by commas.
LAUNCHPAD_PATTERN = "[a-z][a-z0-9_-]*"

# TokenCreated layouts that the decoder supports; the generations v1 and v2 share v1.
EVENTS = ("v0", "v1", "v3", "v3_1", "v4")
# Solana programs that launch tokens, by the layout of their instructions: Meteora's Dynamic Bonding Curve.
PROGRAMS = ("dbc",)
# Solana's key in a file; its numeric id is a setting, because no public standard defines one.
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

# Roles whose contracts emit launches or events after launch.
EMITTING_ROLES = frozenset(
    {
        "factory",
        "locker",
        "fee_locker",
        "fee_spender",
        "vault",
        "airdrop",
        "dev_buy",
        "static_hook",
        "dynamic_hook",
        "mev_module",
        "presale",
    }
)

# Solana: the program that creates pools, and the account or signer that identifies the launchpad's own pools.
SOLANA_ROLES = ("launch_program", "launch_config", "launch_creator")

# Role -> data layouts that launches support for it; a contract's `deploy` is one of these.
DEPLOY_LAYOUTS: Mapping[str, tuple[str, ...]] = {
    "factory": ("v4",),
    # The newer locker takes the encoded fee preferences; the older one ignores its data.
    "locker": ("preferences", "plain"),
    # Up to v4.0, only the fees. From v4.1 on, they are wrapped with a pool extension, which our launches don't have.
    "static_hook": ("bare", "wrapped"),
    "dynamic_hook": ("bare", "wrapped"),
    # No data for a v4.0 auction or a delay by blocks; for descending fees the first, the last and the seconds.
    "mev_module": ("none", "descending"),
    "vault": ("v4",),
    "airdrop": ("v4",),
    "dev_buy": ("v4",),
    "presale": ("v4",),
    "presale_allowlist": ("v4",),
}

# Uniswap's TickMath.MAX_TICK: prices beyond it don't exist.
MAX_TICK = 887272
# The v4 locker takes at most this many positions, and their shares add up to ALL_BPS.
MAX_POSITIONS = 7
ALL_BPS = 10_000

Rule = Callable[[Any], Any]

_WEB_ADDRESS = web_address("https", "http")

plain_text = expecting("expected a text that is not empty")(matching(r".*\S.*"))


def launchpad_name(value: object) -> str:
    """Return a launchpad's name, which its tokens may store as their generation."""
    if not isinstance(value, str) or not re.fullmatch(LAUNCHPAD_PATTERN, value):
        raise ValueError("expected a name of a-z, 0-9, _ and -, which begins with a letter")
    if len(value) > LONGEST_GENERATION_NAME:
        raise ValueError(f"expected a name of at most {LONGEST_GENERATION_NAME} characters")
    return value


_version = expecting("expected a version such as 4 or 4.2, in quotes")(matching(r"[0-9]{1,4}(\.[0-9]{1,4}){0,2}"))
# It becomes part of the provider's URLs.
_network = expecting("expected the provider's id of the network: small letters, digits, - and _")(
    matching("[a-z0-9_-]{1,64}")
)
_flag = expecting("expected true or false, without quotes")(parse_boolean)


@expecting("expected an address that starts with https:// or http://")
def _url(value: object) -> str:
    url: str = _WEB_ADDRESS.parse(value)
    return url.rstrip("/")


def evm_address(value: object) -> str:
    """Return the EIP-55 form of an address written in that form or all in lower case."""
    if not isinstance(value, str) or not re.fullmatch(r"0x[0-9a-fA-F]{40}", value):
        raise ValueError("expected 0x and 40 hexadecimal digits, in quotes")
    if int(value, 16) == 0:
        raise ValueError("the zero address is no contract: leave the entry out")
    checksummed = checksum_address(value)
    # The correct form isn't shown on purpose: with a mistyped digit it would be a wrong address that looks verified.
    if value not in (checksummed, value.lower()):
        raise ValueError("the EIP-55 checksum is wrong: copy it anew from its source (all lower case is accepted)")
    return checksummed


def solana_address(value: object) -> str:
    """Return a base58 Solana address unchanged."""
    if not isinstance(value, str) or not is_solana_address(value):
        raise ValueError("expected base58 of 32 bytes, in quotes, with its capital and small letters as they are")
    return value


def _pool(value: object) -> str:
    """Return a v3 pool's address or a v4 pool's 32-byte id in lower case."""
    if isinstance(value, str) and re.fullmatch(r"0x[0-9a-fA-F]{64}", value):
        return value.lower()
    if not isinstance(value, str) or not re.fullmatch(r"0x[0-9a-fA-F]{40}", value):
        raise ValueError("expected 0x and 40 hexadecimal digits, or the 64 of a v4 pool's id, in quotes")
    return evm_address(value).lower()


def _whole(minimum: int, maximum: int) -> Rule:
    return expecting(f"expected a whole number from {minimum} to {maximum}")(
        partial(parse_integer, least=minimum, most=maximum)
    )


def _gwei(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.000001 <= value <= 10_000:
        raise ValueError("expected a number from 0.000001 to 10000, in gwei")
    # Through the float's shortest text, which is the one in the file.
    return Decimal(str(value))


def _choice(kind: str, choices: Collection[str]) -> Rule:
    return expecting(f"unknown {kind}: expected one of {', '.join(sorted(choices))}")(choice(*choices).parse)


tick_rule = _whole(-MAX_TICK, MAX_TICK)

GENERATION: Mapping[str, Rule] = {"type": plain_text, "event": _choice("event", (*EVENTS, *PROGRAMS))}
GENERATION_OPTIONAL: Mapping[str, Rule] = {"version": _version, "launchpad": launchpad_name}
POSITION: Mapping[str, Rule] = {"tick_lower": tick_rule, "tick_upper": tick_rule, "bps": _whole(1, ALL_BPS)}
# No widely used token has more decimals than 36: prices in 256 bits leave no room for more.
QUOTE_TOKEN: Mapping[str, Rule] = {"symbol": plain_text, "address": evm_address, "decimals": _whole(0, 36)}
QUOTE_TOKEN_OPTIONAL: Mapping[str, Rule] = {"tick": tick_rule, "stable": _flag, "native": _flag}
REFERENCE_POOL: Mapping[str, Rule] = {"pool": _pool, "stable": evm_address}
REFERENCE_POOL_OPTIONAL: Mapping[str, Rule] = {"currency": evm_address, "native": _flag}
CHAIN: Mapping[str, Rule] = {"name": plain_text, "native": plain_text, "finality_depth": _whole(1, 10_000_000)}
CHAIN_OPTIONAL: Mapping[str, Rule] = {
    "max_priority_fee_gwei": _gwei,
    "explorer": _url,
    "market_network": _network,
    "wrapped_native": evm_address,
    "v2_factory": evm_address,
    "v3_factory": evm_address,
    "v3_position_manager": evm_address,
    "v3_quoter": evm_address,
    "v4_pool_manager": evm_address,
    "v4_position_manager": evm_address,
    "v4_state_view": evm_address,
    "v4_quoter": evm_address,
    "universal_router": evm_address,
    "permit2": evm_address,
}
CONTRACT: Mapping[str, Rule] = {"role": _choice("role", ROLES), "address": evm_address}

# Only finalized slots are read on Solana, so it has no finality depth.
SOLANA_CHAIN: Mapping[str, Rule] = {"name": plain_text, "native": plain_text, "genesis_hash": solana_address}
SOLANA_CHAIN_OPTIONAL: Mapping[str, Rule] = {
    "explorer": _url,
    "market_network": _network,
    "wrapped_native": solana_address,
}
SOLANA_CONTRACT: Mapping[str, Rule] = {"role": _choice("role", SOLANA_ROLES), "address": solana_address}
SOLANA_QUOTE_TOKEN: Mapping[str, Rule] = {"symbol": plain_text, "address": solana_address, "decimals": _whole(0, 36)}
SOLANA_QUOTE_TOKEN_OPTIONAL: Mapping[str, Rule] = {"stable": _flag}


@dataclass(frozen=True, kw_only=True)
class ChainRules:
    """The keys that one kind of chain may have in a file, and its address format."""

    required: Mapping[str, Rule]
    optional: Mapping[str, Rule]
    contract: Mapping[str, Rule]
    quote_token: Mapping[str, Rule]
    quote_token_optional: Mapping[str, Rule]
    # Keys whose values are lists of entries.
    lists: tuple[str, ...]
    address: Rule
    # Roles whose contracts belong to a generation.
    generation_roles: tuple[str, ...]
    # The layouts that its generations may have.
    events: tuple[str, ...]


EVM_RULES = ChainRules(
    required=CHAIN,
    optional=CHAIN_OPTIONAL,
    contract=CONTRACT,
    quote_token=QUOTE_TOKEN,
    quote_token_optional=QUOTE_TOKEN_OPTIONAL,
    lists=("contracts", "quote_tokens", "known_deployers", "reference_pools"),
    address=evm_address,
    generation_roles=("factory",),
    events=EVENTS,
)
SOLANA_RULES = ChainRules(
    required=SOLANA_CHAIN,
    optional=SOLANA_CHAIN_OPTIONAL,
    contract=SOLANA_CONTRACT,
    quote_token=SOLANA_QUOTE_TOKEN,
    quote_token_optional=SOLANA_QUOTE_TOKEN_OPTIONAL,
    lists=("contracts", "quote_tokens", "known_deployers"),
    address=solana_address,
    generation_roles=SOLANA_ROLES,
    events=PROGRAMS,
)


def contract_optional(generations: Mapping[str, object], kind: ChainRules) -> Mapping[str, Rule]:
    """Return the rules for a contract's optional keys; `generations` maps each existing generation to its event.

    A generation with an unknown event is not a mistake in the contract that names it.
    """
    names = [name for name, event in generations.items() if event in kind.events or event not in (*EVENTS, *PROGRAMS)]
    layouts = {layout for role_layouts in DEPLOY_LAYOUTS.values() for layout in role_layouts}
    return {"generation": _choice("generation", names), "note": plain_text, "deploy": _choice("layout", layouts)}


def chain_rules(chain_key: str) -> ChainRules:
    """Return the rules for the chain with this key in a file."""
    return SOLANA_RULES if chain_key == SOLANA else EVM_RULES
