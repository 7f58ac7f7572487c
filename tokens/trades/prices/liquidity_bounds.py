"""Bounds for pool prices: the price after a swap counts as far as the pool's liquidity reaches (docs/market.md).

A swap that exhausts the liquidity moves the price to any limit that its caller sets, for nothing: no trade is possible
there. The bounds are the ends of the launch's own tick ranges, whose liquidity is locked. Other liquidity moves a bound
as far as it adjoins these ranges, and is at least a hundredth as deep as the launch's liquidity at its end. Depth is
the reserve in the currency that is paid out there. The next trade in the other direction starts from the bound, so that
reserves at a bounded price equal the pool's reserves.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db import connection
from django.db.models import Sum

from config.postgresql.bulk_load import array_literal
from tokens.chains.pool_types import LiquidityChange, Swap, chain_position
from tokens.models import PoolLiquidityChange
from tokens.trades.pool_prices import tick_root
from tokens.trades.pool_tokens import PoolToken
from tokens.trades.trade_rows import transaction_bytes

# Liquidity moves a bound if it is at least the launch's liquidity divided by this.
_SHALLOWEST = 100
# Ticks in which the price doubles: 1.0001^6931.
_WIDEST_GAP = 6_931

# Each launch block, with its stored liquidity changes. A block has 2^20 positions. OFFSET 0 forces an index lookup per
# token.
_READ_LAUNCHES = """
SELECT token.id, token.block_number, position, tick_lower, tick_upper, liquidity, change.tx_hash
FROM tokens_token AS token LEFT JOIN LATERAL (
    SELECT position, tick_lower, tick_upper, liquidity, tx_hash FROM tokens_poolliquiditychange AS stored
    WHERE stored.token_id = token.id
        AND position >= token.block_number << 20 AND position < (token.block_number + 1) << 20 OFFSET 0
) AS change ON true
WHERE token.id = ANY(%s::bigint[])
"""
# (lower tick, upper tick) -> liquidity.
_Ranges = dict[tuple[int, int], int]


class PriceBounds(NamedTuple):
    """The lowest and the highest `Swap.sqrt_price` that count."""

    lowest: int
    highest: int

    def bound(self, sqrt_price: int) -> int:
        """Return the nearest price that counts."""
        return min(max(sqrt_price, self.lowest), self.highest)


class _Change(NamedTuple):
    tick_lower: int
    tick_upper: int
    liquidity: int
    tx_hash: bytes | None


def bound_prices(
    swaps: Sequence[Swap], changes: Sequence[LiquidityChange], tokens: Mapping[str, PoolToken]
) -> Sequence[Swap]:
    """Return the swaps, with bounded prices in these tokens' pools; `tokens` are by pool.

    `changes` may not be stored yet. A pool has bounds if its launch's liquidity is known. One query, and two more if a
    price is beyond the launch's own ranges.
    """
    launched = _read_launched(tokens, changes)
    spans = {pool: bounds_of(launch, launch) for pool, launch in launched.items()}
    beyond = [
        swap for swap in swaps if (span := spans.get(swap.pool)) and not span.lowest <= swap.sqrt_price <= span.highest
    ]
    if not beyond:
        return swaps
    pools = {swap.pool: tokens[swap.pool] for swap in beyond}
    histories = _read_histories(pools, changes, {_position(swap) for swap in beyond})
    prices = {
        _position(swap): bounds_of(launched[swap.pool], histories[swap.pool].before(_position(swap))).bound(
            swap.sqrt_price
        )
        for swap in beyond
    }
    return [swap._replace(sqrt_price=prices.get(_position(swap), swap.sqrt_price)) for swap in swaps]


def launch_bounds(tokens: Mapping[str, PoolToken]) -> dict[str, PriceBounds]:
    """Return pool -> bounds by the launch's own ranges, if the launch's liquidity is stored. One query."""
    return {pool: bounds_of(launch, launch) for pool, launch in _read_launched(tokens, ()).items()}


def bounds_of(launched: Mapping[tuple[int, int], int], ranges: Mapping[tuple[int, int], int]) -> PriceBounds:
    """Return a pool's bounds, from the launch's ranges and from all ranges. Pure."""
    lowest, highest = min(lower for lower, _ in launched), max(upper for _, upper in launched)
    return PriceBounds(
        _reach_down(lowest, sum(size for (lower, _), size in launched.items() if lower == lowest), ranges),
        _reach_up(highest, sum(size for (_, upper), size in launched.items() if upper == highest), ranges),
    )


def counted_ranges(ranges: Mapping[tuple[int, int], int], *, is_currency0: bool) -> dict[tuple[int, int], int]:
    """Return a launch's ranges from its starting price on, up to a gap in which the token's price more than doubles.

    A purchase crosses a gap for nothing: beyond a wide one, a launcher chooses any price. Pure.
    """
    counted: dict[tuple[int, int], int] = {}
    reached: int | None = None
    for near, far, ticks in sorted((*(ticks if is_currency0 else (-ticks[1], -ticks[0])), ticks) for ticks in ranges):
        if reached is not None and near - reached > _WIDEST_GAP:
            break
        reached = far if reached is None else max(reached, far)
        counted[ticks] = ranges[ticks]
    return counted


def _reach_down(tick: int, launched: int, ranges: Mapping[tuple[int, int], int]) -> int:
    """Return the price down to which ranges below a tick pay out enough of currency 1: `liquidity * root`."""
    reached = tick_root(tick)
    least = launched * reached
    for lower in sorted({end for ticks in ranges for end in ticks if end < tick}, reverse=True):
        active = _active(ranges, lower)
        shallow = least // (_SHALLOWEST * active) if active > 0 else reached
        if shallow >= reached:
            break
        reached = max(tick_root(lower), shallow)
    return reached


def _reach_up(tick: int, launched: int, ranges: Mapping[tuple[int, int], int]) -> int:
    """Return the price up to which ranges above a tick pay out enough of currency 0: `liquidity / root`."""
    reached = end = tick_root(tick)
    # The segments begin at the tick, and at each one above it except the last.
    ends = sorted({bound for ticks in ranges for bound in ticks if bound > tick})
    for lower, upper in zip([tick, *ends], ends, strict=False):
        shallow = _SHALLOWEST * _active(ranges, lower) * end // launched
        if shallow <= reached:
            break
        reached = min(tick_root(upper), shallow)
    return reached


def _active(ranges: Mapping[tuple[int, int], int], tick: int) -> int:
    """Return the liquidity from a tick to the next one."""
    return sum(liquidity for (lower, upper), liquidity in ranges.items() if lower <= tick < upper)


def _read_launched(tokens: Mapping[str, PoolToken], changes: Iterable[LiquidityChange]) -> dict[str, _Ranges]:
    """Return pool -> counted ranges, from liquidity that the launch transaction added. One query."""
    # Solana's curves have no ranges.
    tokens = {pool: token for pool, token in tokens.items() if pool.startswith("0x")}
    if not tokens:
        return {}
    stored: dict[int, dict[int, _Change]] = defaultdict(dict)
    blocks: dict[int, int] = {}
    with connection.cursor() as cursor:
        cursor.execute(_READ_LAUNCHES, [array_literal([token.token_id for token in tokens.values()])])
        for token_id, block, position, lower, upper, liquidity, tx_hash in cursor.fetchall():
            blocks[token_id] = block
            if position is not None:
                tx_bytes = None if tx_hash is None else bytes(tx_hash)
                stored[token_id][position] = _Change(lower, upper, int(liquidity), tx_bytes)
    for change in changes:
        token = tokens.get(change.pool)
        if token is not None and blocks.get(token.token_id) == change.block_number:
            stored[token.token_id].setdefault(
                _position(change),
                _Change(change.tick_lower, change.tick_upper, change.liquidity, transaction_bytes(change.tx_hash)),
            )
    return {
        pool: ranges
        for pool, token in tokens.items()
        if (ranges := counted_ranges(_first_transaction(stored[token.token_id]), is_currency0=token.is_currency0))
    }


def _first_transaction(changes: Mapping[int, _Change]) -> _Ranges:
    """Return the ranges that the first change's transaction added: later liquidity in the block is not the launch's."""
    ranges: _Ranges = defaultdict(int)
    first = changes[min(changes)] if changes else None
    for change in changes.values():
        if first is not None and change.tx_hash == first.tx_hash and change.liquidity > 0:
            ranges[change.tick_lower, change.tick_upper] += change.liquidity
    return ranges


class _History:
    """A pool's liquidity at ascending positions."""

    def __init__(self) -> None:
        self.ranges: _Ranges = defaultdict(int)
        # Position -> ticks and liquidity.
        self.later: dict[int, tuple[int, int, int]] = {}

    def before(self, position: int) -> _Ranges:
        """Return the ranges before a position; positions must not descend from call to call."""
        positions = sorted(self.later)
        for passed in positions[: bisect_left(positions, position)]:
            lower, upper, liquidity = self.later.pop(passed)
            self.ranges[lower, upper] += liquidity
        return self.ranges


def _read_histories(
    tokens: Mapping[str, PoolToken], changes: Iterable[LiquidityChange], positions: Collection[int]
) -> dict[str, _History]:
    """Return pool -> its liquidity, stored and not stored yet, up to the last position. Two queries."""
    histories: dict[str, _History] = {pool: _History() for pool in tokens}
    unstored = [change for change in changes if change.pool in tokens]
    start, end = min([*positions, *map(_position, unstored)]), max(positions)
    by_token = {token.token_id: histories[pool] for pool, token in tokens.items()}
    rows = PoolLiquidityChange.objects.filter(token_id__in=by_token).order_by()
    sums = rows.filter(position__lt=start).values_list("token_id", "tick_lower", "tick_upper")
    for token_id, lower, upper, total in sums.annotate(total=Sum("liquidity")):
        by_token[token_id].ranges[lower, upper] = int(total)
    within = rows.filter(position__range=(start, end))
    columns = ("token_id", "position", "tick_lower", "tick_upper", "liquidity")
    for token_id, position, lower, upper, size in within.values_list(*columns):
        by_token[token_id].later[position] = (lower, upper, int(size))
    for change in unstored:
        histories[change.pool].later[_position(change)] = (change.tick_lower, change.tick_upper, change.liquidity)
    return histories


def _position(log: Swap | LiquidityChange) -> int:
    return chain_position(log.block_number, log.log_index)
