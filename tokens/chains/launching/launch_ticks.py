"""Liquidity ticks for a launch: the starting tick by market cap, and a preset's positions shifted to it.

Ticks are as if the launched token were token0. The price at a tick is 1.0001^tick: the paired token's smallest units
per smallest unit of the launched token. Source: Uniswap's TickMath, and the SDK's rounding to the hooks' usual spacing.
"""

from decimal import ROUND_FLOOR, Decimal, localcontext

from config.http.errors import PermanentError
from tokens.chains.launching.launch_config import TOKEN_SUPPLY, Liquidity
from tokens.chains.registry.chains import Position, Preset
from tokens.chains.registry.entry_rules import MAX_TICK

# Tick spacing in every launch's pool; position ticks are multiples of it.
TICK_SPACING = 200
_LAST_TICK = MAX_TICK // TICK_SPACING * TICK_SPACING
# Number of digits in the highest price.
_MOST_DIGITS = 39
# A market cap with many digits can be this near to a tick boundary, and no nearer.
_SPARE_DIGITS = 40


class TickOutOfRangeError(PermanentError):
    """No Uniswap tick exists for the market cap, or for the end of a position that starts there."""


def place_liquidity(market_cap: Decimal, *, decimals: int, preset: Preset) -> Liquidity:
    """Return the starting tick for a market cap, as `starting_tick`, and the preset's positions from there on."""
    tick = starting_tick(market_cap, decimals=decimals)
    return Liquidity(tick=tick, positions=shifted_positions(preset, tick=tick))


def starting_tick(market_cap: Decimal, *, decimals: int) -> int:
    """Return the highest multiple of 200 at which the whole supply costs no more than `market_cap`.

    The market cap is positive, in whole units of the paired token, which has `decimals`: 10 with 18 gives -230400.
    Raises TickOutOfRangeError.
    """
    with localcontext() as context:
        context.prec = len(market_cap.as_tuple().digits) + _SPARE_DIGITS
        price = market_cap.scaleb(decimals) / TOKEN_SUPPLY
        # A logarithm with thousands of digits would take seconds.
        if abs(price.adjusted()) > _MOST_DIGITS:
            raise TickOutOfRangeError("no pool can start at this market cap")
        steps = price.ln() / Decimal("1.0001").ln() / TICK_SPACING
        tick = int(steps.to_integral_value(ROUND_FLOOR)) * TICK_SPACING
    if abs(tick) > _LAST_TICK:
        raise TickOutOfRangeError("no pool can start at this market cap")
    return tick


def shifted_positions(preset: Preset, *, tick: int) -> tuple[Position, ...]:
    """Return the preset's positions, shifted so that they begin at `tick`. Raises TickOutOfRangeError."""
    shift = tick - preset.starting_tick
    positions = tuple(
        Position(tick_lower=position.tick_lower + shift, tick_upper=position.tick_upper + shift, bps=position.bps)
        for position in preset.positions
    )
    if any(position.tick_lower < -_LAST_TICK or position.tick_upper > _LAST_TICK for position in positions):
        raise TickOutOfRangeError("the liquidity of this market cap would lie beyond all prices")
    return positions
