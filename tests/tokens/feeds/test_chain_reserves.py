"""Tests for tokens/feeds/checking/chain_reserves.py: the check's own price bounds equal the rule's."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tokens.feeds.checking.chain_logs import PoolLog
from tokens.feeds.checking.chain_reserves import ChainReserves
from tokens.feeds.feed_pairs import FeedPair
from tokens.trades.pool_prices import tick_root
from tokens.trades.prices.liquidity_bounds import bounds_of, counted_ranges

POOL = "0x" + "5e" * 32
PAIR = FeedPair(
    token_id=1, token="0x" + "1" * 40, symbol="DOGE", decimals=18, pool=POOL, quote="0x" + "2" * 40,
    quote_symbol="WETH", locker="", factory="", creator="", generation="v4", block_number=7, created_at=0, tx_hash="",
    quote_decimals=18, is_currency0=True, is_curve=False, root=2**96, fee=None,
)  # fmt: skip
ticks = st.integers(-60, 60).map(lambda number: 200 * number)
ranges = st.tuples(ticks, ticks, st.integers(1, 10**6).map(lambda size: size * 10**16)).filter(
    lambda drawn: drawn[0] < drawn[1]
)


def change(lower: int, upper: int, liquidity: int, *, block: int = 9, tx_index: int = 3) -> PoolLog:
    arguments: dict[str, Any] = {"tickLower": lower, "tickUpper": upper, "liquidityDelta": liquidity}
    return PoolLog(POOL, "change", block, 1, tx_index, arguments)


def reserves_of(*logs: PoolLog) -> ChainReserves:
    # No log is before the first block that is read.
    reserves = ChainReserves(None, history=0)  # type: ignore[arg-type]
    reserves.load([PAIR], before=0)
    for log in logs:
        reserves.add(log)
    return reserves


@given(
    launched=st.lists(ranges, min_size=1, max_size=4),
    others=st.lists(ranges, max_size=6),
    root=st.one_of(ticks.map(tick_root), st.integers(2**40, 2**150)),
    pair=st.sampled_from([PAIR, PAIR._replace(quote="0x" + "0" * 40)]),
)
def test_two_computations_of_the_bounds_agree(launched, others, root, pair):
    reserves = reserves_of(
        *(change(*drawn, block=7, tx_index=1) for drawn in launched),
        # Another transaction in the block.
        *(change(*drawn, block=7, tx_index=2) for drawn in others[:3]),
        *(change(*drawn) for drawn in others[3:]),
    )
    own, whole = {}, {}
    for lower, upper, size in launched:
        own[lower, upper] = own.get((lower, upper), 0) + size
    for lower, upper, size in (*launched, *others):
        whole[lower, upper] = whole.get((lower, upper), 0) + size
    counted = counted_ranges(own, is_currency0=pair.is_currency0)
    assert reserves.reach(pair, root) == bounds_of(counted, whole).bound(root)


def test_a_pool_with_an_unread_launch_has_its_own_price():
    reserves = reserves_of(change(0, 200, 10**18))
    assert reserves.reach(PAIR, 2**40) == 2**40
    assert reserves_of().reach(PAIR, 2**40) == 2**40
    # The launch's block has only a removal.
    assert reserves_of(change(0, 200, -(10**18), block=7)).reach(PAIR, 2**40) == 2**40
