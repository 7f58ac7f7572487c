"""A chain's quote tokens, and the pools that have their prices in USD."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tokens.chains.addresses import address_key
from tokens.chains.registry.toml_files import RegistryError, RegistryMistake


@dataclass(frozen=True, kw_only=True)
class QuoteToken:
    """A token that launches are usually paired with.

    `tick` is the usual starting tick, as if the launched token were token0; None where there is none to compare with.
    A `stable` one counts as 1 USD: see `ChainInfo.stable_tokens`.
    """

    address: str
    symbol: str
    decimals: int
    tick: int | None = None
    stable: bool = False
    # Counts as the native coin, which it can be exchanged for at any time.
    native: bool = False


@dataclass(frozen=True, kw_only=True)
class ReferencePool:
    """A pool that pairs a quote token with a stable one, and so has the quote token's price in USD."""

    # Lower case: a v3 pool's address, or a v4 pool's 32-byte id.
    pool: str
    # The quote token that is priced; wrapped_native also if the pool holds the native coin itself.
    currency: str
    currency_decimals: int
    stable: str
    stable_decimals: int
    is_currency0: bool


def build_reference_pools(
    chain_id: int, fields: dict[str, Any], quote_tokens: Mapping[str, QuoteToken]
) -> tuple[ReferencePool, ...]:
    """Build a chain's reference pools from quote tokens in any file. Raises RegistryError."""
    pools, mistakes = [], []
    for index, entry in enumerate(fields.get("reference_pools", ())):
        addresses = {"currency": entry.get("currency") or fields.get("wrapped_native", ""), "stable": entry["stable"]}
        tokens = {key: quote_tokens.get(address_key(address)) for key, address in addresses.items()}
        for key in (key for key, token in tokens.items() if token is None):
            path = f"chains.{chain_id}.reference_pools[{index}].{key}"
            rule = "expected a quote token of this chain; without `currency` it is wrapped_native"
            mistakes.append(RegistryMistake(file="all files together", key_path=path, rule=rule))
        currency, stable = tokens.values()
        if currency and stable:
            pools.append(_build_reference_pool(entry, currency, stable))
    if mistakes:
        raise RegistryError(mistakes)
    return tuple(pools)


def _build_reference_pool(entry: dict[str, Any], currency: QuoteToken, stable: QuoteToken) -> ReferencePool:
    # A pool's currencies are sorted by address, and v4 has the native coin under the address zero.
    is_currency0 = entry.get("native", False) or address_key(currency.address) < address_key(stable.address)
    return ReferencePool(
        pool=entry["pool"],
        currency=currency.address,
        currency_decimals=currency.decimals,
        stable=stable.address,
        stable_decimals=stable.decimals,
        is_currency0=is_currency0,
    )
