"""Tests of tokens/market/price_history.py: former prices of tokens."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from tests.rows.factories import TokenFactory
from tokens.market import price_history, tasks
from tokens.market.provider_responses import PERCENT, PRICE
from tokens.models import MarketPoint

pytestmark = pytest.mark.django_db

HOURS = ("price_change_1h", "price_change_6h", "price_change_24h")


def points(token, **prices_by_minutes):
    now = timezone.now()
    MarketPoint.objects.bulk_create(
        MarketPoint(token=token, at=now - timedelta(minutes=int(minutes[1:])), price_usd=usd)
        for minutes, usd in prices_by_minutes.items()
    )
    return now


@pytest.mark.parametrize(
    ("prices", "found"),
    [
        ({}, (None, None, None)),
        ({"m59": 1.0}, (None, None, None)),
        ({"m61": 1.0}, (1.0, None, None)),
        ({"m89": 1.0, "m61": 2.0, "m59": 3.0}, (2.0, None, None)),
        ({"m91": 1.0}, (None, None, None)),
        ({"m361": 1.0}, (None, 1.0, None)),
        ({"m541": 1.0}, (None, None, None)),
        ({"m1441": 4.0, "m2159": 5.0, "m2161": 6.0}, (None, None, 4.0)),
        ({"m2159": 5.0}, (None, None, 5.0)),
    ],
)
def test_the_last_price_before_a_time_counts_and_an_older_one_does_not(prices, found):
    token, other = TokenFactory(), TokenFactory()
    points(other, m61=99.0, m361=99.0, m1441=99.0)
    now = points(token, **prices)
    assert tuple(price_history.earlier_prices([token.pk], now)[token.pk][name] for name in HOURS) == found


def test_one_query_reads_the_prices_of_many():
    tokens = TokenFactory.create_batch(20)
    with CaptureQueriesContext(connection) as captured:
        found = price_history.earlier_prices([token.pk for token in tokens], timezone.now())
    assert (len(captured), len(found)) == (1, 20)


usd = st.floats(PRICE.lowest, PRICE.highest, exclude_max=True)


@given(price=usd, earlier=st.none() | usd)
def test_a_change_is_within_bounds_or_unknown(price, earlier):
    percent = price_history.percent_change(price, earlier)
    assert percent is None or PERCENT.lowest <= percent < PERCENT.highest


def test_a_change_is_in_percent_points():
    assert price_history.percent_change(3.0, 2.0) == pytest.approx(50)
    assert price_history.percent_change(1.0, 2.0) == pytest.approx(-50)


def test_old_points_are_deleted_some_at_a_time(settings):
    token = TokenFactory()
    now = timezone.now()
    old, kept = 25_000, 5_000
    for count, days in ((old, 8), (kept, 6)):
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO tokens_marketpoint (token_id, at, price_usd) SELECT %s, %s, 1 FROM generate_series(1, %s)",
                [token.pk, now - timedelta(days=days), count],
            )
    with CaptureQueriesContext(connection) as captured:
        tasks.prune_market_history()
    assert MarketPoint.objects.count() == kept
    assert len(captured) == 3
    settings.MARKET_HISTORY_DAYS = 3
    assert price_history.prune_price_history() == kept
    assert price_history.prune_price_history() == 0
