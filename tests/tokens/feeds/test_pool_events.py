"""Tests for tokens/feeds/pool_events.py: block events with amounts, prices and reserves, beside fractions."""

from decimal import Decimal
from fractions import Fraction

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.rows.many_tokens import multiply
from tests.tokens.feeds.feed_worlds import (
    CHAIN,
    POOL,
    SENDER,
    TICK,
    TOKEN,
    add_change,
    add_swap,
    block_time,
    follow_chain,
    make_pair,
    unix,
)
from tests.tokens.market.stored_trades import LOCKER, TRADER, make_trade, make_traded_token, make_weeks
from tokens.feeds.feed_pairs import find_pair
from tokens.feeds.pool_events import (
    MOST_EVENTS,
    UNKNOWN_MAKER,
    TooManyEventsError,
    UnplacedEventError,
    read_pool_events,
)
from tokens.installation.installed_registry import registry
from tokens.models import LaunchFacts, PoolTrade
from tokens.trades.pool_prices import tick_root

pytestmark = pytest.mark.django_db

PRICE = Decimal("0.000000000123456789012345")
Q96 = 2**96


def events(first=100, last=200):
    return read_pool_events(registry().chains[CHAIN], first, last)


def test_events_are_in_the_sequence_of_the_chain_with_their_places():
    token = make_pair()
    add_swap(token, block=110)
    add_change(token, block=110, log_index=6, liquidity=-(10**23))
    add_swap(token, block=110, log_index=4, is_buy=False)
    found = events()
    assert [(event.kind, event.block, event.log_index, event.tx_index) for event in found] == [
        ("join", 101, 3, 4),
        ("swap", 110, 4, 7),
        ("swap", 110, 5, 7),
        ("exit", 110, 6, 4),
    ]
    assert [event.is_buy for event in found[1:3]] == [False, True]
    assert {event.timestamp for event in found[1:]} == {unix(block_time(110))}
    assert found[1].tx_hash == f"0x{110:064x}"
    assert {event.pair.pool for event in found} == {POOL}


def test_both_ends_of_the_range_are_included_and_nothing_else():
    token = make_pair()
    for block in (119, 120, 130, 131):
        add_swap(token, block=block)
    assert [event.block for event in events(120, 130)] == [120, 130]


def test_makers_are_traders_lockers_and_unknown_senders():
    token = make_pair()
    add_swap(token, block=110, trader=bytes.fromhex(TRADER[2:]))
    add_swap(token, block=111, trader=None)
    add_swap(token, block=112, is_conversion=True)
    assert [event.maker for event in events()] == [SENDER, TRADER, UNKNOWN_MAKER, LOCKER]


def exact(liquidity, root):
    """Return currency 0 and currency 1 in the pool's range at a price."""
    low, high = Fraction(tick_root(TICK), Q96), Fraction(tick_root(-120_000), Q96)
    here = min(max(Fraction(root, Q96), low), high)
    return liquidity * (1 / here - 1 / high), liquidity * (here - low)


def test_amounts_and_reserves_follow_from_liquidity_and_price():
    token = make_pair()
    joined, *_ = events()
    # At the first tick, all liquidity above is the token.
    held, paired = exact(10**24, tick_root(TICK))
    assert joined.amount_token == pytest.approx(float(held), rel=1e-12)
    assert (joined.amount_quote, paired) == (0, 0)
    assert joined.reserves == (joined.amount_token - 1, 0)
    add_swap(token, block=110, price=PRICE)
    add_change(token, block=120, log_index=6, liquidity=-(10**24))
    _, swapped, exited = events()
    root = int((PRICE * Q96 * Q96).sqrt())
    for amount, sum_held in zip(swapped.reserves, exact(10**24, root), strict=True):
        assert amount == pytest.approx(float(sum_held), rel=1e-9)
    assert (exited.amount_token, exited.amount_quote) == pytest.approx(swapped.reserves, rel=1e-9)
    assert exited.reserves == (0, 0)


def test_a_later_range_goes_on_with_the_price_and_the_liquidity_before_it():
    token = make_pair()
    add_swap(token, block=110, price=PRICE)
    add_change(token, block=120, log_index=6, liquidity=10**23)
    add_swap(token, block=121, price=PRICE * 2)
    add_swap(token, block=190, price=PRICE * 3)
    add_change(token, block=191, log_index=0, liquidity=-(10**23))
    whole = events()
    for first in (101, 111, 121, 122, 191):
        assert events(first) == [event for event in whole if event.block >= first]


def test_where_the_token_is_currency_1_amounts_are_still_those_of_the_token():
    high = "0xFFfFfFffFFfffFFfFFfFFFFFffFFFffffFfFFFfF"
    token = make_pair(contract_address=high)
    LaunchFacts.objects.filter(token=token).update(facts={"pool": {"pair_decimals": 18, "tick": -120_000}})
    (joined,) = events()
    # As if the token were currency 0 the tick is -120000: in this pool it is 120000, above the range.
    assert (joined.amount_token > 0, joined.amount_quote) == (True, 0)
    assert find_pair(registry().chains[CHAIN], POOL).is_currency0 is False


@pytest.mark.parametrize(
    ("address", "amounts"), [(TOKEN, (7, 9)), ("0xFFfFfFffFFfffFFfFFfFFFFFffFFFffffFfFFFfF", (9, 7))]
)
def test_amounts_of_an_event_that_has_them_are_its_own(address, amounts):
    token = make_pair(contract_address=address)
    # Before the first trade in a pool whose first tick is unknown, the event's amounts are known all the same.
    LaunchFacts.objects.filter(token=token).update(facts={"pool": {"pair_decimals": 18, "tick": None}})
    add_change(token, block=120, log_index=6, liquidity=-(10**24), amount0=7, amount1=9)
    (event,) = events()
    assert (event.kind, event.amount_token, event.amount_quote) == ("exit", *amounts)
    assert (event.price, event.reserves) == (None, None)


def test_rows_from_before_the_upgrade_are_refused_by_their_block():
    token = make_pair()
    add_swap(token, block=140, tx_index=None)
    with pytest.raises(UnplacedEventError) as caught:
        events()
    assert caught.value.block == 140
    assert events(141) == []


def test_too_many_events_are_refused():
    token = make_pair()
    add_swap(token, block=110)
    multiply(PoolTrade.objects.get(), {"position": "position + n"}, rows=MOST_EVENTS)
    assert len(events(110)) == MOST_EVENTS
    # With the event in block 101.
    with pytest.raises(TooManyEventsError):
        events()


def test_other_chains_and_pools_without_decimals_have_no_events():
    token = make_pair()
    other = make_traded_token(chain_id=1)
    make_trade(other, block=110, tx_index=1)
    unknown = make_traded_token(chain_id=CHAIN, quote_decimals=None, pool_address="0x" + "5f" * 32)
    add_change(unknown, block=110, log_index=9)
    assert {event.pair.token_id for event in events()} == {token.pk}


def test_the_number_of_queries_does_not_depend_on_the_events():
    make_weeks(2)
    counts = []
    for number in range(3):
        token = make_pair(contract_address=f"0x{number + 1:040x}", pool_address=f"0x{number + 1:064x}")
        add_swap(token, block=110, log_index=20 + number)
        with CaptureQueriesContext(connection) as queries:
            assert len(events()) == 2 * (number + 1)
        counts.append(len(queries))
        # Each has its own log.
        token.liquidity_changes.update(position=(101 << 20) + 50 + number)
    assert counts == [6, 6, 6]


def test_a_served_range_needs_no_rows():
    follow_chain()
    assert events() == []
