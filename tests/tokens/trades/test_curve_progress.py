"""Progress on a bonding curve in SQL (tokens/trades/markets.sql), compared with exact integers."""

from decimal import Decimal
from itertools import accumulate

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from tests.tokens.chains.solana.test_curve_configs import CURVE
from tokens.chains.solana.curve_configs import CurveConfig, CurveSegment
from tokens.models import BondingCurve
from tokens.trades.market_rows import STEPS
from tokens.trades.pool_prices import pool_price

pytestmark = pytest.mark.django_db

SOLANA, CONFIG = 101, "config"
DECIMALS, QUOTE_DECIMALS = 6, 9
# The program's bounds.
MIN_SQRT_PRICE, MAX_SQRT_PRICE = 4_295_048_016, 79_226_673_521_066_979_257_578_248_091

_POOLS = """
    SELECT place, price_quote, %s AS chain_id, %s AS curve_config, %s AS is_graduated, %s AS decimals,
        %s AS quote_decimals
    FROM unnest(%s::numeric[]) WITH ORDINALITY AS trade (price_quote, place)
"""
_READ = f"""
    SELECT curve_progress FROM ({_POOLS}) AS pool CROSS JOIN LATERAL ({STEPS["progress"]}) AS progress ORDER BY place
"""


@st.composite
def curves(draw):
    """Return a curve as the program accepts it, with reserves up to 2^56 units; each segment has a millionth."""
    start = draw(st.integers(MIN_SQRT_PRICE, MAX_SQRT_PRICE // 2**8))
    steps = draw(st.lists(st.integers(start // 10**6, start), min_size=1, max_size=16))
    prices = list(accumulate(steps, initial=start))[1:]
    most = min(2**128 - 1, 2**56 * 2**128 // (prices[-1] - start))
    segments = tuple(CurveSegment(price, draw(st.integers(most // 10**6 + 1, most))) for price in prices)
    migration = draw(st.integers(start + (prices[-1] - start) // 2, prices[-1]))
    curve = CurveConfig(
        start_sqrt_price=start, migration_sqrt_price=migration, migration_threshold=1, segments=segments
    )
    return CurveConfig(
        start_sqrt_price=start,
        migration_sqrt_price=migration,
        migration_threshold=curve.reserve_at(migration) + 1,
        segments=segments,
    )


def store(curve):
    BondingCurve.objects.update_or_create(
        chain_id=SOLANA,
        config=CONFIG,
        defaults={
            "start_sqrt_price": Decimal(curve.start_sqrt_price),
            "migration_sqrt_price": Decimal(curve.migration_sqrt_price),
            "migration_threshold": Decimal(curve.migration_threshold),
            "sqrt_prices": [Decimal(segment.sqrt_price) for segment in curve.segments],
            "liquidities": [Decimal(segment.liquidity) for segment in curve.segments],
        },
    )


def read_progress(sqrt_prices, *, config=CONFIG, is_graduated=False):
    """Return the progress at these prices, as trades store them."""
    prices = [
        pool_price(sqrt_price << 32, decimals=DECIMALS, quote_decimals=QUOTE_DECIMALS, is_currency0=True)
        for sqrt_price in sqrt_prices
    ]
    with connection.cursor() as cursor:
        cursor.execute(_READ, [SOLANA, config, is_graduated, DECIMALS, QUOTE_DECIMALS, prices])
        return [progress for (progress,) in cursor.fetchall()]


@given(curve=curves(), data=st.data())
def test_progress_is_the_reserve_in_percent_and_rises_with_the_price(curve, data):
    store(curve)
    # A price is stored with 24 digits: the highest one is not closer to the end than that.
    highest = curve.migration_sqrt_price - 1 - curve.migration_sqrt_price // 10**20
    between = st.integers(curve.start_sqrt_price, highest)
    prices = [
        curve.start_sqrt_price,
        *sorted(data.draw(st.lists(between, max_size=20))),
        highest,
        curve.migration_sqrt_price,
        curve.segments[-1].sqrt_price,
    ]
    found = read_progress(prices)
    assert (found[0], found[-2:]) == (0, [100, 100])
    assert found == sorted(found)
    for price, progress in zip(prices[:-2], found, strict=False):
        exact = Decimal(curve.reserve_at(price)) * 100 / curve.migration_threshold
        # A unit that `reserve_at` rounds off, and the percent millionths that are rounded off here.
        assert abs(progress - exact) <= Decimal(100) / curve.migration_threshold + Decimal("0.000001")
        assert progress < 100


def test_without_a_stored_curve_there_is_no_progress():
    assert read_progress([2**64]) == [None]
    assert read_progress([2**64], config=None) == [None]


def test_without_a_price_there_is_no_progress():
    store(CURVE)
    # PostgreSQL's `least` and `greatest` leave out NULL.
    assert read_progress([0, CURVE.start_sqrt_price]) == [None, 0]


def test_a_complete_curve_needs_no_price():
    assert read_progress([2**64], is_graduated=True) == [100]
