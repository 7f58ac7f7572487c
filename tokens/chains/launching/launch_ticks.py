"""Where a launch's liquidity lies: the starting tick of a market cap, and a preset's positions moved to it.

Ticks are as if the launched token were token0; the price at one is 1.0001^tick, in smallest units of the paired token
for one of the launched token. Source: Uniswap's TickMath, and the SDK's rounding to the hooks' usual spacing.
"""

from decimal import ROUND_FLOOR, Decimal, localcontext

from config.http.json_client import Permanent
from tokens.chains.launching.launch_config import TOKEN_SUPPLY
from tokens.chains.registry.chains import Position, Preset
from tokens.chains.registry.entry_rules import MAX_TICK

# What every launch gives as its pool's spacing; ticks of positions are multiples of it.
TICK_SPACING = 200
_LAST_TICK = MAX_TICK // TICK_SPACING * TICK_SPACING
# The highest price has 39 digits.
_MOST_DIGITS = 39
# A market cap of many digits can lie that near to a border, and no nearer.
_SPARE_DIGITS = 40


class BeyondTicks(Permanent):
    """Uniswap has no tick for the market cap, or for an end of a position that starts there."""


def starting_tick(market_cap: Decimal, *, decimals: int) -> int:
    """The highest multiple of 200 at which the whole supply costs no more than `market_cap`.

    The market cap is in whole units of the paired token, which has so many decimals: 10 with 18 gives -230400. Raises
    BeyondTicks; a market cap that isn't positive is the caller's mistake.
    """
    with localcontext() as context:
        context.prec = len(market_cap.as_tuple().digits) + _SPARE_DIGITS
        price = market_cap.scaleb(decimals) / TOKEN_SUPPLY
        # The logarithm of thousands of digits would take seconds.
        if abs(price.adjusted()) > _MOST_DIGITS:
            raise BeyondTicks("no pool can start at this market cap")
        steps = price.ln() / Decimal("1.0001").ln() / TICK_SPACING
        tick = int(steps.to_integral_value(ROUND_FLOOR)) * TICK_SPACING
    if abs(tick) > _LAST_TICK:
        raise BeyondTicks("no pool can start at this market cap")
    return tick


def shifted_positions(preset: Preset, *, tick: int) -> tuple[Position, ...]:
    """The preset's positions, moved so that they begin at `tick` as they did at the preset's. Raises BeyondTicks."""
    shift = tick - preset.starting_tick
    positions = tuple(
        Position(tick_lower=position.tick_lower + shift, tick_upper=position.tick_upper + shift, bps=position.bps)
        for position in preset.positions
    )
    if any(position.tick_lower < -_LAST_TICK or position.tick_upper > _LAST_TICK for position in positions):
        raise BeyondTicks("the liquidity of this market cap would lie beyond all prices")
    return positions
