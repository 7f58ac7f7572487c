"""Prices in a simulated chain's pools as far as their liquidity reaches (docs/market.md), by fractions from its truth.

Only the square root at a tick, a function in Uniswap's contracts, is shared with the service.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import floor

from tests.simulator.truth import LiquidityTruth, PoolLogTruth, SwapTruth, Truth
from tokens.trades.pool_prices import tick_root

_Ranges = dict[tuple[int, int], int]


def reached_logs(truth: Truth) -> Iterator[PoolLogTruth]:
    """Yield the pools' logs with the swap prices that count."""
    ranges: dict[str, _Ranges] = defaultdict(lambda: defaultdict(int))
    launched: dict[str, _Ranges] = defaultdict(dict)
    # The transaction that added the first liquidity.
    transactions: dict[str, str] = {}
    for entry in truth.pool_logs:
        log = entry.log
        if isinstance(log, LiquidityTruth):
            ticks = log.tick_lower, log.tick_upper
            first = transactions.setdefault(log.token, entry.at.tx_hash)
            is_launch = entry.at.block_number == truth.tokens[log.token].at.block_number
            if is_launch and entry.at.tx_hash == first and log.liquidity > 0:
                launched[log.token][ticks] = launched[log.token].get(ticks, 0) + log.liquidity
            ranges[log.token][ticks] += log.liquidity
            yield entry
        else:
            price = _reached(log, launched[log.token], ranges[log.token])
            yield replace(entry, log=replace(log, sqrt_price=price))


def _reached(swap: SwapTruth, launched: Mapping[tuple[int, int], int], ranges: Mapping[tuple[int, int], int]) -> int:
    """Return the nearest price's square root with a hundredth of the launch's depth all the way."""
    root = swap.sqrt_price
    if not launched:
        return root
    ends = min(lower for lower, _ in launched), max(upper for _, upper in launched)
    is_above = root > tick_root(ends[1])
    if not is_above and root >= tick_root(ends[0]):
        return root
    end = ends[is_above]
    size = sum(liquidity for ticks, liquidity in launched.items() if ticks[is_above] == end)
    ticks = sorted({tick for both in ranges for tick in both if (tick > end) == is_above and tick != end})
    at = tick_root(end)
    for tick in ticks if is_above else reversed(ticks):
        middle = (tick + end) // 2 if abs(tick - end) > 1 else min(tick, end)
        active = sum(liquidity for (lower, upper), liquidity in ranges.items() if lower <= middle < upper)
        # Where the depth is a hundredth of the depth at the launch's end.
        depth = Fraction(100 * active, size)
        last = floor(tick_root(ends[1]) * depth) if is_above else floor(tick_root(ends[0]) / depth) if depth > 0 else at
        reach = min(last, tick_root(tick)) if is_above else max(last, tick_root(tick))
        if (reach <= at) if is_above else (reach >= at):
            break
        at, end = reach, tick
        if reach != tick_root(tick):
            break
    return min(root, at) if is_above else max(root, at)
