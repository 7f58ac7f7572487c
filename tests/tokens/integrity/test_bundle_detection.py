"""tokens/integrity/bundle_detection.py, against the definition in docs/integrity.md, implemented a second time."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokens.chains.pool_types import chain_position
from tokens.integrity.bundle_detection import find_bundles
from tokens.integrity.first_trades import LaunchPlace, LaunchTrade

LAUNCH = "0x" + "1a" * 32
AT = datetime(2026, 1, 5, tzinfo=UTC)
# The launch's place in block 1.
PLACE = 7


def trade(name, place, *, block=2, log_index=0, is_buy=True):
    """Return a trade with a log that is numbered by its transaction's place, or by `log_index` in it."""
    return LaunchTrade(chain_position(block, 1000 * (place or 0) + log_index), AT, name, place, "0xA", is_buy, 10)


def find(*trades, place=PLACE):
    """Return each bundle's kinds, and its purchases' transactions."""
    found = find_bundles(sorted(trades), LaunchPlace(LAUNCH, 1, place))
    return [(bundle.kinds, [one.tx_hash for one in bundle.purchases]) for bundle in found]


@pytest.mark.parametrize("purchases", [0, 1])
def test_a_launch_with_its_own_purchase_is_no_bundle(purchases):
    assert find(*[trade(LAUNCH, PLACE, block=1)] * purchases) == []


def test_several_purchases_of_a_transaction_are_a_bundle():
    found = find(trade("a", 3), trade("a", 3, log_index=500), trade("b", 3, block=3))
    assert found == [(("sameTransaction",), ["a", "a"])]


def test_a_purchase_and_a_sale_of_a_transaction_are_none():
    assert find(trade("a", 3), trade("a", 3, log_index=1, is_buy=False)) == []


def test_several_purchases_of_the_launch_are_a_bundle_with_it():
    found = find(trade(LAUNCH, PLACE, block=1), trade(LAUNCH, PLACE, block=1, log_index=9))
    assert found == [(("sameTransaction", "withLaunch"), [LAUNCH, LAUNCH])]


@pytest.mark.parametrize(("second", "is_bundle"), [(4, True), (5, False)])
def test_transactions_are_next_to_one_another_if_none_is_between_them(second, is_bundle):
    assert find(trade("a", 3), trade("b", second)) == [(("consecutive",), ["a", "b"])] * is_bundle


@pytest.mark.parametrize(("second", "is_bundle"), [(PLACE + 1, True), (PLACE + 2, False)])
def test_one_purchase_right_after_the_launch_is_a_bundle_with_it(second, is_bundle):
    after = trade("a", second, block=1)
    assert find(after) == [(("consecutive", "withLaunch"), ["a"])] * is_bundle
    # Also where the launch has a purchase.
    assert len(find(trade(LAUNCH, PLACE, block=1), after)) == is_bundle
    assert find(after, place=None) == []


def test_a_transaction_that_only_sells_and_a_new_block_end_a_run():
    assert find(trade("a", 3), trade("s", 4, is_buy=False), trade("b", 5)) == []
    assert find(trade("a", 3), trade("b", 4, block=3)) == []


def test_a_transaction_of_unknown_place_is_no_neighbour():
    assert find(trade("a", None), trade("b", None, log_index=1), trade("c", 1)) == []
    several = find(trade("a", None), trade("a", None, log_index=1))
    assert several == [(("sameTransaction",), ["a", "a"])]


def test_any_number_of_neighbours_are_one_bundle_of_all_kinds():
    trades = [trade(name, place, block=1, log_index=place) for place, name in enumerate("abc", PLACE + 1)]
    found = find(*trades, trade("b", PLACE + 2, block=1, log_index=99))
    assert found == [(("sameTransaction", "consecutive", "withLaunch"), ["a", "b", "b", "c"])]


# The definition a second time: neighbours are joined in pairs until no pair remains.


def expected(trades):
    places = {LAUNCH: (1, PLACE)} | {one.tx_hash: (one.block, one.tx_index) for one in trades}
    bought = {name: [one.tx_hash for one in trades if one.tx_hash == name and one.is_buy] for name in places}
    groups = [[name] for name in sorted(places, key=lambda name: places[name])]
    for one, (block, place) in places.items():
        for other, other_place in places.items():
            if other_place == (block, place + 1) and all(bought[name] or name == LAUNCH for name in (one, other)):
                left, right = (next(group for group in groups if name in group) for name in (one, other))
                left += right
                groups.remove(right)
    found = []
    for group in groups:
        kinds = (max(len(bought[name]) for name in group) > 1, len(group) > 1, LAUNCH in group)
        if kinds[0] or kinds[1]:
            named = zip(("sameTransaction", "consecutive", "withLaunch"), kinds, strict=True)
            found.append((tuple(kind for kind, holds in named if holds), [tx for name in group for tx in bought[name]]))
    return found


@st.composite
def blocks(draw):
    """Draw transactions' trades from the launch on; each transaction has one block and one index in it."""
    trades, place, block = [], PLACE, 1
    for number in range(draw(st.integers(0, 8))):
        if draw(st.integers(0, 4)) == 0:
            block, place = block + 1, 0
        is_launch = number == 0 and block == 1 and draw(st.booleans())
        place += 0 if is_launch else draw(st.integers(1, 2))
        name = LAUNCH if is_launch else f"tx {number}"
        for log_index in range(draw(st.integers(1, 3))):
            trades.append(trade(name, place, block=block, log_index=log_index, is_buy=draw(st.integers(0, 3)) > 0))
    return trades


@given(trades=blocks())
def test_it_is_the_documented_definition(trades):
    assert find(*trades) == expected(trades)
