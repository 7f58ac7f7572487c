"""Launch warnings, as texts for the API's `warnings`. Pure."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from tokens.chains.addresses import address_key
from tokens.chains.registry.chains import ChainInfo, Position, Preset
from tokens.chains.types import Launch

UNUSUAL_TICK = "UNUSUAL_TICK"
UNUSUAL_PAIR_ADDRESS = "UNUSUAL_PAIR_ADDRESS"
MISSING_POOL_CONFIG = "MISSING_POOL_CONFIG"
UNUSUAL_POSITIONS = "UNUSUAL_POSITIONS"


def find_warnings(
    launch: Launch, *, chain: ChainInfo, presets: Iterable[Preset], starting_market_cap: float | None
) -> list[str]:
    """Return a launch's warnings in a fixed order. The market cap is in whole quote tokens."""
    return list(_warnings(launch, chain, presets, starting_market_cap))


def _warnings(
    launch: Launch, chain: ChainInfo, presets: Iterable[Preset], starting_market_cap: float | None
) -> Iterator[str]:
    is_declared = launch.generation in chain.declared
    # Bonding curves and Uniswap v2 pairs have no ticks.
    if launch.pool is None or (launch.pool.tick is None and not chain.is_solana and not is_declared):
        yield MISSING_POOL_CONFIG
    # Usual prices, pairs and positions are known for compiled generations only.
    if launch.pool is None or is_declared:
        return
    paired = launch.pool.paired_token
    quote = chain.quote_tokens.get(address_key(paired))
    if paired == chain.wrapped_native:
        if starting_market_cap is not None and starting_market_cap < 1:
            yield UNUSUAL_TICK
    elif quote and quote.tick is not None and launch.pool.tick is not None and launch.pool.tick != quote.tick:
        yield UNUSUAL_TICK
    if quote is None and paired != chain.wrapped_native:
        yield UNUSUAL_PAIR_ADDRESS
    # Only launches with a hook choose their positions; older factories create the same single position for all.
    if launch.pool.hook and launch.positions and not _match_preset(launch.positions, presets):
        yield UNUSUAL_POSITIONS


def _match_preset(positions: tuple[Position, ...], presets: Iterable[Preset]) -> bool:
    """Return whether the positions match a preset, possibly shifted to another starting tick."""
    return any(_shape(positions) == _shape(preset.positions) for preset in presets)


# Cached because nearly all launches share a few position sets and ticks.
@lru_cache(maxsize=4096)
def _shape(positions: tuple[Position, ...]) -> list[tuple[int, int, int]]:
    start = min(position.tick_lower for position in positions)
    return sorted((position.tick_lower - start, position.tick_upper - start, position.bps) for position in positions)
