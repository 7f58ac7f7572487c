"""Pool reserves, and the prices that liquidity reaches, from logs since the launch."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any

from tokens.chains.evm.evm_chain import Chain
from tokens.feeds.checking.chain_logs import PoolLog, read_liquidity_logs
from tokens.feeds.feed_pairs import FeedPair
from tokens.feeds.pool_amounts import MOST_TICKS, liquidity_amounts
from tokens.trades.pool_prices import tick_root

# A price in the feed has 24 digits, and its square root is an integer.
_ROOT_DIGITS, _ROOT_UNITS = 10**23, 2
# Beyond the launch's ranges, liquidity counts from this share of the launch's depth at their end (docs/market.md).
_LEAST_DEPTH = Fraction(1, 100)
# A wider gap, in ticks, ends the launch's ranges: the price doubles across it (docs/market.md).
_WIDEST_GAP = 6_931
_Ticks = tuple[int, int]


@dataclass(frozen=True)
class ReserveBounds:
    """Lower and upper bounds for a pool's asset 0 and asset 1, in smallest units.

    The feed's price is rounded, and so are its sums for each tick.
    """

    bounds: tuple[tuple[int, int], tuple[int, int]]
    decimals: tuple[int, int]

    def include(self, shown: dict[str, Any] | None) -> bool:
        """Return whether the feed's reserves are within the bounds."""
        if shown is None:
            return False
        amounts = [Fraction(shown[f"asset{index}"]) * 10**digits for index, digits in enumerate(self.decimals)]
        return all(least <= amount <= most for amount, (least, most) in zip(amounts, self.bounds, strict=True))

    def __str__(self) -> str:
        """Return the middle of the bounds."""
        middle = [sum(pair) / 2 / 10**digits for pair, digits in zip(self.bounds, self.decimals, strict=True)]
        return str({f"asset{index}": format(amount, ".15g") for index, amount in enumerate(middle)})


class ChainReserves:
    """Pool liquidity by tick range, from logs.

    The logs before the checked range are read once, for pools with events in it; not for pools that were launched more
    than `history` blocks before.
    """

    def __init__(self, chain: Chain, *, history: int) -> None:
        self._chain, self._history = chain, history
        self._ranges: dict[str, dict[_Ticks, int]] = {}
        # Pool -> block and transaction index of its first liquidity, and that liquidity by range.
        self._launches: dict[str, tuple[_Ticks, dict[_Ticks, int]]] = {}
        self._unread: set[str] = set()

    def load(self, pairs: Collection[FeedPair], *, before: int) -> None:
        """Read liquidity before a block, for pools that are not loaded yet. Raises NodeUnavailableError."""
        unknown = {pair.pool.lower(): pair for pair in pairs if pair.pool.lower() not in self._ranges}
        for pool in unknown:
            self._ranges[pool] = defaultdict(int)
        earlier = {pool: pair.block_number for pool, pair in unknown.items() if pair.block_number < before}
        self._unread |= {pool for pool, block in earlier.items() if before - block > self._history}
        read = earlier.keys() - self._unread
        if read:
            first = min(earlier[pool] for pool in read)
            for log in read_liquidity_logs(self._chain, read, first, before - 1):
                self.add(log)

    def add(self, log: PoolLog) -> None:
        """Add a log's liquidity change; a v2 pair has no ranges."""
        if "reserve0" in log.arguments:
            self._unread.add(log.pool)
        elif log.liquidity and log.pool in self._ranges:
            ticks = log.arguments["tickLower"], log.arguments["tickUpper"]
            self._ranges[log.pool][ticks] += log.liquidity
            transaction = log.block, log.tx_index
            first, launched = self._launches.setdefault(log.pool, (transaction, defaultdict(int)))
            if transaction == first and log.liquidity > 0:
                launched[ticks] += log.liquidity

    def reach(self, pair: FeedPair, root: int) -> int:
        """Return the square root of the reachable price that is nearest to the pool's.

        The pool's own price counts if its launch logs are unread, and in a later pool.
        """
        pool = pair.pool.lower()
        if pair.since is not None:
            return root
        (block, _), launched = self._launches.get(pool, ((-1, 0), {}))
        if pool in self._unread or block != pair.block_number or not launched:
            return root
        lowest, highest = _launched_ends(launched, pair.is_currency0)
        if root < tick_root(lowest):
            return max(root, _reach(self._ranges[pool], launched, lowest, _paid_below, above=False))
        if root > tick_root(highest):
            return min(root, _reach(self._ranges[pool], launched, highest, _paid_above, above=True))
        return root

    def at(self, pair: FeedPair, root: int) -> ReserveBounds | None:
        """Return the pool's reserves at its price's square root; None if unread, or if the feed has no reserves.

        A bonding curve has no positions.
        """
        pool = pair.pool.lower()
        ranges = {ticks: liquidity for ticks, liquidity in self._ranges[pool].items() if liquidity}
        if pair.is_curve or pool in self._unread or 2 * len(ranges) > MOST_TICKS:
            return None
        error = root // _ROOT_DIGITS + _ROOT_UNITS
        # With a rising price, the pool's currency 0 falls and its currency 1 rises.
        sums = [_sum_up(ranges, root - error), _sum_up(ranges, root + error)]
        slack = 2 * len(ranges) + 2
        bounds = [(min(pair) - slack, max(pair) + slack) for pair in zip(*sums, strict=True)]
        first, second = bounds if pair.is_currency0 else bounds[::-1]
        return ReserveBounds((first, second), (pair.decimals, pair.quote_decimals))


def _launched_ends(launched: Collection[_Ticks], is_currency0: bool) -> _Ticks:
    """Return the ends of the launch's ranges, from the starting price on and up to a wide gap."""
    ticks = sorted({tick for both in launched for tick in both}, reverse=not is_currency0)
    end = ticks[0]
    for near, far in pairwise(ticks):
        has_liquidity = any(lower <= min(near, far) < upper for lower, upper in launched)
        if not has_liquidity and abs(far - near) > _WIDEST_GAP:
            break
        end = far
    return min(ticks[0], end), max(ticks[0], end)


def _paid_below(liquidity: int, root: int) -> Fraction:
    """Return the depth in currency 1."""
    return Fraction(liquidity * root)


def _paid_above(liquidity: int, root: int) -> Fraction:
    """Return the depth in currency 0."""
    return Fraction(liquidity, root)


def _reach(
    ranges: Mapping[_Ticks, int],
    launched: Mapping[_Ticks, int],
    end: int,
    depth: Callable[[int, int], Fraction],
    *,
    above: bool,
) -> int:
    """Return the furthest price, beyond one end of the launch's ranges, that deep enough liquidity reaches."""
    least = _LEAST_DEPTH * depth(sum(size for ticks, size in launched.items() if ticks[above] == end), tick_root(end))
    reached = tick_root(end)
    for near, far in pairwise(_ticks_beyond(ranges, end, above=above)):
        inner = min(near, far)
        active = sum(size for (lower, upper), size in ranges.items() if lower <= inner < upper)
        if active <= 0 or depth(active, reached) < least:
            return reached
        if depth(active, tick_root(far)) < least:
            return floor(active / least if above else least / active)
        reached = tick_root(far)
    return reached


def _ticks_beyond(ranges: Mapping[_Ticks, int], end: int, *, above: bool) -> Iterator[int]:
    """Yield the end and the ticks beyond it, away from it."""
    ticks = {tick for both in ranges for tick in both if (tick > end if above else tick < end)}
    yield end
    yield from sorted(ticks, reverse=not above)


def _sum_up(ranges: Mapping[tuple[int, int], int], root: int) -> tuple[int, int]:
    # Amounts that a removal would pay are rounded down.
    amounts = [liquidity_amounts(-liquidity, root, *ticks) for ticks, liquidity in ranges.items()]
    return sum(first for first, _ in amounts), sum(second for _, second in amounts)
