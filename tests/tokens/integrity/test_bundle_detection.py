"""tokens/integrity/bundle_detection.py, against the definition of docs/integrity.md written down a second time."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokens.chains.pool_types import chain_position
from tokens.integrity.bundle_detection import LaunchLog, find_bundles
from tokens.integrity.first_trades import LaunchTrade

LAUNCH = "0x" + "1a" * 32
AT = datetime(2026, 1, 5, tzinfo=UTC)
LAUNCH_LOG = 100


def trade(name, *, block=1, log_index=0, is_buy=True, account="0xA"):
    return LaunchTrade(chain_position(block, log_index), AT, name, account, is_buy, 10)


def find(*trades, launched=True, is_solana=False):
    """Return kinds and places of the purchases of each bundle."""
    launch = LaunchLog(LAUNCH, chain_position(1, LAUNCH_LOG) if launched and not is_solana else None)
    found = find_bundles(sorted(trades), launch=launch, is_solana=is_solana)
    return [(bundle.kinds, [(one.tx_hash, one.log_index) for one in bundle.purchases]) for bundle in found]


@pytest.mark.parametrize("purchases", [0, 1])
def test_a_launch_with_its_own_purchase_is_no_bundle(purchases):
    assert find(*[trade(LAUNCH, log_index=90)] * purchases) == []


def test_several_purchases_of_a_transaction_are_a_bundle():
    found = find(trade("a", block=2, log_index=3), trade("a", block=2, log_index=500), trade("b", block=3))
    assert found == [(("sameTransaction",), [("a", 3), ("a", 500)])]


def test_a_purchase_and_a_sale_of_a_transaction_are_none():
    assert find(trade("a", block=2), trade("a", block=2, log_index=1, is_buy=False)) == []


def test_several_purchases_of_the_launch_are_a_bundle_with_it():
    found = find(trade(LAUNCH, log_index=60), trade(LAUNCH, log_index=70))
    assert found == [(("sameTransaction", "withLaunch"), [(LAUNCH, 60), (LAUNCH, 70)])]


@pytest.mark.parametrize(("distance", "is_bundle"), [(1, True), (16, True), (17, False)])
def test_transactions_are_next_to_one_another_up_to_16_logs(distance, is_bundle):
    found = find(trade("a", block=2, log_index=7), trade("b", block=2, log_index=7 + distance))
    assert found == [(("consecutive",), [("a", 7), ("b", 7 + distance)])] * is_bundle


@pytest.mark.parametrize(("distance", "is_bundle"), [(16, True), (17, False)])
def test_one_purchase_right_after_the_launch_is_a_bundle_with_it(distance, is_bundle):
    found = find(trade("a", log_index=LAUNCH_LOG + distance))
    assert found == [(("consecutive", "withLaunch"), [("a", LAUNCH_LOG + distance)])] * is_bundle
    # The purchase of the launch is before its own log.
    found = find(trade(LAUNCH, log_index=90), trade("a", log_index=LAUNCH_LOG + distance))
    assert len(found) == is_bundle


def test_the_distance_begins_with_the_last_log_of_a_transaction():
    trades = [trade("a", block=2), trade("a", block=2, log_index=40, is_buy=False), trade("b", block=2, log_index=56)]
    assert find(*trades) == [(("consecutive",), [("a", 0), ("b", 56)])]


def test_a_transaction_that_only_sells_and_a_new_block_end_a_run():
    sold = trade("s", block=2, log_index=5, is_buy=False)
    assert find(trade("a", block=2, log_index=4), sold, trade("b", block=2, log_index=6)) == []
    assert find(trade("a", block=2, log_index=4), trade("b", block=3, log_index=5)) == []


def test_any_number_of_neighbours_are_one_bundle_of_all_kinds():
    trades = [trade(name, log_index=LAUNCH_LOG + 16 * place) for place, name in enumerate("abbc", 1)]
    ((kinds, purchases),) = find(*trades)
    assert kinds == ("sameTransaction", "consecutive", "withLaunch") and len(purchases) == 4


@pytest.mark.parametrize(("places", "is_bundle"), [((4, 5), True), ((4, 6), False), ((4, 4), True)])
def test_on_solana_the_places_of_transactions_decide(places, is_bundle):
    first, second = places
    names = ("a", "b" if first != second else "a")
    logs = (first * 128, second * 128 + 127)
    trades = [trade(name, log_index=log_index) for name, log_index in zip(names, logs, strict=True)]
    assert bool(find(*trades, is_solana=True)) == is_bundle


def test_on_solana_the_launch_counts_if_it_has_a_trade():
    after = trade("a", log_index=6 * 128)
    assert find(after, is_solana=True) == []
    assert find(trade(LAUNCH, log_index=5 * 128 + 3), after, is_solana=True) == [
        (("consecutive", "withLaunch"), [(LAUNCH, 5 * 128 + 3), ("a", 6 * 128)])
    ]


# The definition a second time: pairs of neighbours, joined until none is left.


def expected(trades, *, is_solana):
    spans = {} if is_solana else {LAUNCH: {(1, LAUNCH_LOG)}}
    for one in trades:
        spans.setdefault(one.tx_hash, set()).add((one.block, one.log_index))
    bought = {name: [one for one in trades if one.tx_hash == name and one.is_buy] for name in spans}
    names = sorted(spans, key=lambda name: min(spans[name]))
    groups = [[name] for name in names]
    for one, other in zip(names, names[1:], strict=False):
        if any(not bought[name] and name != LAUNCH for name in (one, other)):
            continue
        (block, last), (next_block, first) = max(spans[one]), min(spans[other])
        near = first // 128 - last // 128 == 1 if is_solana else first - last <= 16
        if block == next_block and near:
            left = next(group for group in groups if one in group)
            right = next(group for group in groups if other in group)
            left += right
            groups.remove(right)
    found = []
    for group in groups:
        kinds = (max(len(bought[name]) for name in group) > 1, len(group) > 1, LAUNCH in group)
        if kinds[0] or kinds[1]:
            named = zip(("sameTransaction", "consecutive", "withLaunch"), kinds, strict=True)
            logs = [(one.tx_hash, one.log_index) for name in group for one in bought[name]]
            found.append((tuple(kind for kind, holds in named if holds), logs))
    return found


@st.composite
def blocks(draw):
    """Draw trades of transactions that don't overlap, each in one block and at one place of its slot."""
    trades, log_index, block = [], 0, 1
    for number in range(draw(st.integers(0, 8))):
        if draw(st.integers(0, 4)) == 0:
            block, log_index = block + 1, 0
        log_index = (log_index // 128 + draw(st.integers(1, 2))) * 128 if draw(st.booleans()) else log_index + 1
        name = LAUNCH if number == 0 and draw(st.booleans()) and log_index < LAUNCH_LOG else f"tx {number}"
        for _ in range(draw(st.integers(1, 3))):
            trades.append(trade(name, block=block, log_index=log_index, is_buy=draw(st.integers(0, 3)) > 0))
            log_index += draw(st.sampled_from([1, 2, 15, 16, 17]))
    return trades


@given(trades=blocks(), is_solana=st.booleans())
def test_it_is_the_documented_definition(trades, is_solana):
    assert find(*trades, is_solana=is_solana) == expected(trades, is_solana=is_solana)
