"""Tests for tokens/trades/reference_check.py: reference price alarms in log, metrics and dashboard."""

import logging
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.rows.factories import ChainHeadFactory, FollowedBlockFactory
from tokens.admin.following_dashboard import following
from tokens.chains.registry.chains import load_registry
from tokens.models import ReferencePrice
from tokens.trades.metrics import reference_prices
from tokens.trades.reference_check import compare_references, read_reference_states

pytestmark = pytest.mark.django_db

BASE = load_registry().chain(8453)
FIRST, SECOND = (pool.pool for pool in BASE.reference_pools)
DIFFERS = f"reference pool {SECOND} differs from the first one by over 2 %"


@pytest.fixture
def at():
    """Follow Base up to a block three hours ago, as while it is behind; return the block's time."""
    head = ChainHeadFactory(head=3_000_000, followed=2_900_000)
    return FollowedBlockFactory(number=head.followed, at=timezone.now() - timedelta(hours=3)).at


def price(pool, usd, at):
    number = ReferencePrice.objects.count()
    ReferencePrice.objects.create(
        chain_id=8453,
        pool=pool,
        block_number=number,
        position=number << 20,
        at=at,
        currency=BASE.wrapped_native,
        usd=Decimal(usd),
    )


def state():
    return read_reference_states([BASE])[8453]


@pytest.mark.parametrize(
    ("usd", "percent", "alarm"),
    [
        ("3000", 0, ""),
        ("3060", 2, ""),
        ("2940", 2, ""),
        ("3060.3", 2.01, DIFFERS),
        ("2939.7", 2.01, DIFFERS),
    ],
)
def test_pools_that_differ_by_over_the_tolerance_alarm(at, usd, percent, alarm):
    # Only the newest prices are compared.
    price(SECOND, 1, at)
    price(FIRST, 3000, at)
    price(SECOND, usd, at)
    assert state().difference_percent == pytest.approx(percent)
    assert state().alarm == alarm


def test_a_pool_without_a_swap_for_an_hour_of_the_chain_alarms(at):
    price(FIRST, 3000, at - timedelta(minutes=61))
    price(SECOND, 3000, at - timedelta(minutes=59))
    assert (state().alarm, state().difference_percent) == (f"no swap for an hour in reference pool {FIRST}", 0)


def test_a_pool_without_any_price_alarms(at):
    price(FIRST, 3000, at)
    assert (state().alarm, state().difference_percent) == (f"no swap for an hour in reference pool {SECOND}", None)


def test_chains_without_own_trades_or_pools_or_progress_are_not_checked(at, settings):
    chains = load_registry().chains.values()
    ChainHeadFactory(chain_id=84532)
    ChainHeadFactory(chain_id=1, followed=None)
    assert read_reference_states(chains).keys() == {8453}
    settings.MARKET_PROVIDER_CHAINS = (8453,)
    assert read_reference_states(chains) == {}
    assert compare_references(BASE) == ""


def test_the_check_of_all_chains_takes_two_queries(at):
    price(FIRST, 3000, at)
    ChainHeadFactory(chain_id=1)
    with CaptureQueriesContext(connection) as captured:
        assert len(read_reference_states(load_registry().chains.values())) == 2
    assert len(captured) == 2


def test_an_alarm_is_logged_once_until_it_changes(at, caplog):
    caplog.set_level(logging.INFO, logger="tokens.trades.reference_check")

    def logged_after(usd, logged):
        caplog.clear()
        price(SECOND, usd, at)
        logged = compare_references(BASE, logged=logged)
        return logged, [(record.levelname, record.getMessage()) for record in caplog.records]

    price(FIRST, 3000, at)
    assert logged_after(3000, "") == ("", [])
    assert logged_after(3300, "") == (DIFFERS, [("ERROR", f"chain=8453 reference prices: {DIFFERS}")])
    # Another difference is the same alarm.
    assert logged_after(3400, DIFFERS) == (DIFFERS, [])
    assert logged_after(3001, DIFFERS) == ("", [("INFO", "chain=8453 reference prices: the alarm ended")])


def test_metrics_and_dashboard_show_the_alarm(at):
    price(FIRST, 3000, at)
    price(SECOND, 3300, at)
    samples = {
        sample.name: (sample.labels, sample.value)
        for metric in reference_prices(timezone.now())
        for sample in metric.samples
    }
    assert samples["launchboard_reference_price_alarm"] == ({"chain": "8453"}, 1)
    assert samples["launchboard_reference_price_difference_percent"] == ({"chain": "8453"}, pytest.approx(10))
    (panel,) = following(timezone.now())
    figure = next(figure for figure in panel.figures if figure.label == "Base")
    assert figure.note.endswith(f"; {DIFFERS}")
    assert figure.is_alarming
