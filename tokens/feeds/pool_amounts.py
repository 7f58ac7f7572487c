"""Token amounts for liquidity in Uniswap pools, in integers. Pure.

Prices are square roots of currency 1 per currency 0 in smallest units, times 2^96, as in `Swap.sqrt_price`.
"""

from bisect import bisect_right
from itertools import accumulate, pairwise

from tokens.trades.pool_prices import tick_root

_Q96 = 1 << 96
# Above so many distinct ticks, a pool's reserves are not computed: each change would cost a pass over them.
MOST_TICKS = 500


def liquidity_amounts(liquidity: int, root: int, tick_lower: int, tick_upper: int) -> tuple[int, int]:
    """Return the currency 0 and currency 1 that a liquidity change moves at a price, both at least 0.

    Rounded in the pool's favor: up where liquidity is added. Source: SqrtPriceMath.getAmount0Delta and getAmount1Delta.
    """
    lower, upper = tick_root(tick_lower), tick_root(tick_upper)
    here = min(max(root, lower), upper)
    size, up = abs(liquidity), liquidity > 0
    amount0 = _divide(_divide((size << 96) * (upper - here), upper, up), here, up)
    return amount0, _divide(size * (here - lower), _Q96, up)


class PoolReserves:
    """A pool's liquidity by tick range, and its reserves at a price."""

    def __init__(self) -> None:
        # Tick -> change in active liquidity when the price rises above the tick.
        self._net: dict[int, int] = {}
        self._is_built = False

    def add(self, tick_lower: int, tick_upper: int, liquidity: int) -> None:
        """Add liquidity to a range, or remove it (negative)."""
        for tick, change in ((tick_lower, liquidity), (tick_upper, -liquidity)):
            total = self._net.get(tick, 0) + change
            if total:
                self._net[tick] = total
            else:
                self._net.pop(tick, None)
        self._is_built = False

    def at(self, root: int) -> tuple[int, int] | None:
        """Return currency 0 and currency 1 at a price, without uncollected fees.

        None above MOST_TICKS. Each is up to one unit per tick less than the positions' sum.
        """
        if len(self._net) > MOST_TICKS:
            return None
        if not self._is_built:
            self._build()
        if not self._roots:
            return 0, 0
        index = bisect_right(self._roots, root) - 1
        if index < 0:
            return self._above[0], 0
        if index == len(self._roots) - 1:
            return 0, self._below[-1] // _Q96
        active, upper = self._active[index], self._roots[index + 1]
        amount0 = self._above[index + 1] + (active << 96) * (upper - root) // upper // root
        return amount0, (self._below[index] + active * (root - self._roots[index])) // _Q96

    def _build(self) -> None:
        """Sum up currency 1 below each tick, times 2^96, and currency 0 above it."""
        ticks = sorted(self._net)
        self._roots = [tick_root(tick) for tick in ticks]
        self._active = list(accumulate(self._net[tick] for tick in ticks))
        steps = list(zip(self._active, pairwise(self._roots), strict=False))
        self._below = [0, *accumulate(active * (upper - lower) for active, (lower, upper) in steps)]
        amounts = [(active << 96) * (upper - lower) // upper // lower for active, (lower, upper) in steps]
        self._above = [*reversed(list(accumulate(reversed(amounts)))), 0]
        self._is_built = True


def _divide(number: int, divisor: int, up: bool) -> int:
    return -(-number // divisor) if up else number // divisor
