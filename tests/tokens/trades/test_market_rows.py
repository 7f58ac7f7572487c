"""Markets for tokens with own trades (tokens/trades/market_rows.py), and the reserves of their pools."""

import math
import random
import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal, localcontext

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config.events.models import EventAudience
from config.events.outbox import leave_out_events
from tests.config.events.stored_events import take_outbox
from tests.rows.written_facts import drawn_launches, launch_facts_of, write_all
from tests.tokens.trades.pool_rows import (
    CHAIN,
    NOW,
    add_liquidity,
    make_partitions,
    make_pool_token,
    remake_candles,
    trade_row,
    write_trades,
)
from tokens.installation.installed_registry import registry
from tokens.ledger.launch_outcomes import LEAST_CHECKED_CAP
from tokens.models import Market, PoolTrade, RecentTrader, ReferencePrice, RollingClock, RollingSum, Token
from tokens.models.candle import DAY
from tokens.models.rolling_sum import ROLLING_PERIODS
from tokens.trades import rolling_sums
from tokens.trades.market_rows import MARKETS, STEPS, find_stale_markets, refresh_markets, reset_markets
from tokens.trades.trade_writing import price_launches

pytestmark = pytest.mark.django_db

# Below and above WETH, so that the token is currency 0 or 1.
LOW, HIGH = "0x1000000000000000000000000000000000000001", "0xF000000000000000000000000000000000000001"
TICK = -230_400
STARTING_PRICE = 1.0001**TICK
_READ_AMOUNTS = f"""
    SELECT (in_quote - quote_reserve) / price, quote_reserve FROM (
        SELECT %s::bigint AS token_id, 1 AS block_number, %s::float8 AS price, 1::float8 AS token_unit,
            1::float8 AS quote_unit, true AS is_currency0, 'infinity'::timestamptz AS until
    ) AS pool CROSS JOIN LATERAL ({STEPS["reserves"]}) AS reserves
"""


@pytest.fixture
def chain():
    make_partitions()
    RollingClock.objects.create(chain_id=CHAIN, rolled_to=NOW)
    return registry().chains[CHAIN]


def set_rate(chain, usd: str, *, block: int = 1) -> None:
    """Store a WETH price."""
    pool = chain.reference_pools[0]
    ReferencePrice.objects.create(
        chain_id=CHAIN, pool=pool.pool, block_number=block, position=block << 20, at=NOW, currency=pool.currency,
        usd=Decimal(usd),
    )  # fmt: skip


def trade(chain, *rows) -> None:
    write_trades(rows)
    rolling_sums.add_trades(CHAIN, rows)
    refresh_markets(chain, {row.token_id for row in rows})


def test_each_statement_that_changes_markets_stores_an_event_of_their_chain(chain):
    set_rate(chain, "3000")
    one, other = make_pool_token(), make_pool_token()
    take_outbox()
    trade(chain, trade_row(one.pk, NOW), trade_row(other.pk, NOW))
    (event,) = take_outbox()
    assert (event.type, event.chain_id, event.subject) == ("markets.changed", CHAIN, str(CHAIN))
    assert (event.audience, event.data) == (EventAudience.STREAM, {})
    refresh_markets(chain, {one.pk, other.pk})
    assert not take_outbox()
    leave_out_events()
    trade(chain, trade_row(one.pk, NOW, position=1))
    assert not take_outbox()


@pytest.mark.parametrize(("tick", "price"), [(0, 1), (TICK, STARTING_PRICE), (None, None)])
def test_a_launch_on_a_curve_has_the_price_that_it_declares(chain, tick, price):
    (launch,) = drawn_launches(1)
    pool = replace(launch.pool, tick=tick, pair_decimals=18)
    facts = launch_facts_of([replace(launch, curve_config=launch.factory, pool=pool, decimals=18)])
    write_all(facts)
    price_launches(facts, chain=chain)
    stored = Market.objects.get().price_quote
    assert stored is price if price is None else float(stored) == pytest.approx(price)


def test_a_launch_has_a_market_before_any_trade(chain):
    set_rate(chain, "3000")
    token = make_pool_token()
    refresh_markets(chain, [token.pk])
    market = token.market
    assert float(market.price_quote) == pytest.approx(STARTING_PRICE)
    assert market.price_usd == pytest.approx(STARTING_PRICE * 3000)
    assert market.market_cap == pytest.approx(STARTING_PRICE * 3000 * 1e11)
    assert (market.volume_24h, market.tx_count_24h) == (0, 0)
    assert (market.price_change_1h, market.price_change_6h, market.price_change_24h) == (0, 0, 0)
    assert (market.last_position, market.last_trade_at, market.trending, market.liquidity_usd) == (None,) * 4


def test_trades_set_every_column(chain):
    set_rate(chain, "3000")
    token = make_pool_token()
    first = trade_row(token.pk, NOW - timedelta(hours=7), price="0.001")
    second = trade_row(token.pk, NOW - timedelta(hours=2), price="0.002", is_buy=False)
    third = trade_row(token.pk, NOW - timedelta(minutes=5), price="0.003")
    trade(chain, first, second, third)
    market = token.market
    assert (market.price_quote, market.price_usd, market.quote_price_usd) == (Decimal("0.003"), 9, 3000)
    assert (market.volume_24h, market.tx_count_24h) == (9000, 3)
    assert (market.last_position, market.last_trade_at) == (third.position, NOW - timedelta(minutes=5))
    assert (market.price_change_1h, market.price_change_6h) == (pytest.approx(50), pytest.approx(200))
    assert market.price_change_24h == pytest.approx((0.003 / STARTING_PRICE - 1) * 100)
    assert market.trending == RollingSum.objects.get(token=token, seconds=86_400).trending


def test_a_change_in_usd_includes_that_of_the_quote_token(chain):
    set_rate(chain, "3000")
    token = make_pool_token()
    trade(chain, trade_row(token.pk, NOW - timedelta(hours=2), price="0.001", quote_usd="2000"))
    trade(chain, trade_row(token.pk, NOW, price="0.001", quote_usd="3000"))
    assert token.market.price_change_1h == pytest.approx(50)


@pytest.mark.parametrize("quote_usd", ["3000.1", None])
def test_changes_have_6_decimals_in_usd_and_in_the_quote_token(chain, quote_usd):
    if quote_usd:
        set_rate(chain, quote_usd)
    token = make_pool_token()
    trade(chain, trade_row(token.pk, NOW - timedelta(hours=2), price="0.003", quote_usd=quote_usd))
    trade(chain, trade_row(token.pk, NOW, price="0.001", is_buy=False, quote_usd=quote_usd))
    assert token.market.price_change_1h == -66.666667


def test_a_price_that_returns_has_changed_by_exactly_nothing(chain):
    """Check prices whose quotient is not 1 in binary fractions, as after a purchase and its complete sale."""
    quote_usd = "3000.1"
    set_rate(chain, quote_usd)
    rng, tokens = random.Random(7), [make_pool_token() for _ in range(20)]
    for token in tokens:
        price = str(rng.uniform(1e-12, 1e-6))
        trade(chain, trade_row(token.pk, NOW - timedelta(hours=2), price=price, quote_usd=quote_usd))
        trade(chain, trade_row(token.pk, NOW, price=price, is_buy=False, quote_usd=quote_usd))
    changes = Market.objects.values_list("price_change_1h", flat=True)
    assert [change for change in changes if change != 0 or math.copysign(1, change) < 0] == []


def test_without_a_price_source_usd_is_null_and_changes_are_of_the_quote_token(chain):
    token = make_pool_token()
    add_liquidity(token.pk, TICK, -120_000, 10**20)
    rows = [
        trade_row(token.pk, NOW - timedelta(hours=2), price="0.001", quote_usd=None),
        trade_row(token.pk, NOW, price="0.004", quote_usd=None),
    ]
    trade(chain, *rows)
    market = token.market
    assert (market.price_quote, market.tx_count_24h) == (Decimal("0.004"), 2)
    assert (market.price_usd, market.quote_price_usd, market.market_cap, market.volume_24h) == (None,) * 4
    assert (market.liquidity_usd, market.trending) == (None, None)
    assert market.price_change_1h == pytest.approx(300)


def test_a_quote_token_of_unknown_decimals_has_no_market(chain):
    token = make_pool_token(quote_decimals=None)
    refresh_markets(chain, [token.pk])
    assert (token.market.price_quote, token.market.tx_count_24h) == (None, None)


def test_a_conversion_moves_the_price_only(chain):
    set_rate(chain, "3000")
    token = make_pool_token()
    trade(chain, trade_row(token.pk, NOW, price="0.001"))
    trade(chain, trade_row(token.pk, NOW + timedelta(seconds=5), price="0.002", is_conversion=True))
    market = token.market
    assert (market.price_quote, market.tx_count_24h, market.last_trade_at) == (Decimal("0.002"), 1, NOW)
    assert market.last_position == int((NOW + timedelta(seconds=5)).timestamp()) << 20


def test_a_market_outlives_the_trades_that_are_dropped(chain):
    set_rate(chain, "3000")
    token = make_pool_token()
    trade(chain, trade_row(token.pk, NOW - timedelta(days=12), price="0.001"))
    PoolTrade.objects.all().delete()
    refresh_markets(chain, [token.pk])
    assert token.market.price_quote == Decimal("0.001")
    assert token.market.last_trade_at.date() == (NOW - timedelta(days=12)).date()


def test_a_market_that_is_unchanged_is_not_written(chain):
    set_rate(chain, "3000")
    token = make_pool_token()
    trade(chain, trade_row(token.pk, NOW, price="0.001", quote_usd="3000.000000000001"))
    assert refresh_markets(chain, [token.pk]) == 0
    assert refresh_markets(chain, []) == 0


def test_all_trades_undone_is_the_market_of_the_launch(chain):
    set_rate(chain, "3000")
    token = make_pool_token()
    refresh_markets(chain, [token.pk])
    before = Market.objects.values().get(pk=token.pk)
    trade(chain, trade_row(token.pk, NOW, price="0.001"))
    PoolTrade.objects.all().delete()
    remake_candles([token.pk])
    rolling_sums.recount(CHAIN, [token.pk])
    refresh_markets(chain, [token.pk])
    after = Market.objects.values().get(pk=token.pk)
    assert after | {"updated_at": None} == before | {"updated_at": None}


def test_a_token_in_another_pool_begins_anew(chain):
    set_rate(chain, "3000")
    token = make_pool_token()
    trade(chain, trade_row(token.pk, NOW, price="0.001"))
    reset_markets([token.pk])
    market = Market.objects.get(pk=token.pk)
    assert (market.price_quote, market.market_cap, market.trending, market.tx_count_24h) == (None,) * 4
    assert not RollingSum.objects.exists() and not RecentTrader.objects.exists()


def test_stale_rates_are_found_the_largest_market_first(chain):
    set_rate(chain, "3000")
    small, large, stable = (
        make_pool_token(supply=10**27),
        make_pool_token(),
        make_pool_token(paired_token=chain.reference_pools[0].stable, quote_decimals=6),
    )
    refresh_markets(chain, [small.pk, large.pk, stable.pk])
    assert find_stale_markets(chain) == []
    set_rate(chain, "3029", block=2)
    assert find_stale_markets(chain) == []
    set_rate(chain, "3031", block=3)
    assert find_stale_markets(chain) == [large.pk, small.pk]
    refresh_markets(chain, find_stale_markets(chain))
    assert find_stale_markets(chain) == []
    assert large.market.quote_price_usd == 3031


def test_the_quote_tokens_of_all_tokens_are_read_once(chain):
    make_pool_token()
    with CaptureQueriesContext(connection) as queries:
        find_stale_markets(chain)
    assert sum("DISTINCT" in query["sql"] for query in queries) == 1


def test_a_price_source_that_appears_prices_what_had_none(chain):
    token = make_pool_token()
    refresh_markets(chain, [token.pk])
    assert find_stale_markets(chain) == []
    set_rate(chain, "3000")
    assert find_stale_markets(chain) == [token.pk]


@pytest.mark.parametrize("address", [LOW, HIGH])
def test_liquidity_of_a_launch_is_its_tokens_at_the_starting_price(chain, address):
    """All tokens are in one range above the starting price: they are worth the market cap, without any quote."""
    set_rate(chain, "3000")
    token = make_pool_token(contract_address=address)
    lower, upper = (TICK, -120_000) if address == LOW else (120_000, -TICK)
    with localcontext(prec=50):
        a, b = Decimal("1.0001") ** (TICK // 2), Decimal("1.0001") ** (-120_000 // 2)
        liquidity = int(10**29 / (1 / a - 1 / b))
    add_liquidity(token.pk, lower, upper, liquidity, position=77)
    refresh_markets(chain, [token.pk])
    assert token.market.liquidity_usd == pytest.approx(token.market.market_cap)
    assert token.market.last_position == 77
    # Twice the price's square root: tokens for 1/root, and quote units with the same value and more.
    trade(chain, trade_row(token.pk, NOW, price=Decimal(4 * STARTING_PRICE)))
    with localcontext(prec=50):
        tokens, quote = liquidity * (1 / (2 * a) - 1 / b), liquidity * a
    in_quote = float(tokens) * 4 * STARTING_PRICE + float(quote)
    assert Market.objects.get(pk=token.pk).liquidity_usd == pytest.approx(in_quote / 1e18 * 3000)


def test_liquidity_that_was_removed_is_not_counted(chain):
    set_rate(chain, "3000")
    token = make_pool_token()
    add_liquidity(token.pk, TICK, -120_000, 10**24, position=1)
    add_liquidity(token.pk, TICK, -120_000, -(10**24), position=2)
    refresh_markets(chain, [token.pk])
    assert token.market.liquidity_usd == 0


@pytest.mark.parametrize(
    ("price", "amount0", "amount1"),
    # Below, in and above a range from 1 to 4, that is from root 1 to root 2, with liquidity 6000.
    [(0.25, 3000, 0), (1, 3000, 0), (2.25, 1000, 3000), (4, 0, 6000), (9, 0, 6000)],
)
def test_reserves_of_a_range(price, amount0, amount1):
    # 1.0001^13864 is 4.0001.
    assert read_amounts(price, 0, 13_864, 6000) == pytest.approx((amount0, amount1), abs=0.3)


@pytest.mark.parametrize("tick", [-600_000, -200_000, 200_000, 600_000])
def test_a_price_at_the_end_of_a_range_has_no_reserve_by_rounding(tick):
    with localcontext(prec=60):
        price = float(Decimal("1.0001") ** tick)
    assert read_amounts(price, tick, 887_200, 10**30)[1] == 0
    assert read_amounts(price, -887_200, tick, 10**30)[0] == 0


def read_amounts(price: float, lower: int, upper: int, liquidity: int) -> tuple[float, float]:
    """Return the amounts in a tick range: currency 0, which is the token, and currency 1."""
    token = make_pool_token()
    add_liquidity(token.pk, lower, upper, liquidity)
    with connection.cursor() as cursor:
        cursor.execute(_READ_AMOUNTS, [token.pk, price])
        return cursor.fetchone()


def test_numbers_in_the_sql_file_equal_the_constants():
    assert {int(seconds) for seconds in re.findall(r"seconds = (\d+)", MARKETS)} == set(ROLLING_PERIODS)
    assert max(ROLLING_PERIODS) == DAY
    assert set(re.findall(r"[\d.]+e-05", MARKETS)) == {repr(math.log1p(0.0001)), repr(math.log1p(0.0001) / 2)}
    assert set(re.findall(r"full_value <= (\d+)", MARKETS)) == {str(LEAST_CHECKED_CAP)}


@pytest.mark.parametrize("tick", [-887_272, 887_272])
@pytest.mark.parametrize("quote_decimals", [0, 255])
@pytest.mark.parametrize("address", [LOW, HIGH])
def test_no_price_of_a_hostile_quote_token_is_too_large_or_too_small(chain, tick, quote_decimals, address):
    """A quote token may report any decimals; an overflow in PostgreSQL would stop the chain's follower."""
    set_rate(chain, "3000")
    token = make_pool_token(tick=tick, quote_decimals=quote_decimals, contract_address=address, supply=2**256 - 1)
    add_liquidity(token.pk, -887_272, 887_272, 2**127)
    refresh_markets(chain, [token.pk])
    assert token.market.price_quote > 0
    assert token.market.price_usd > 0
    trade(chain, trade_row(token.pk, NOW, price=token.market.price_quote))
    assert Market.objects.get(pk=token.pk).liquidity_usd >= 0


def test_decimals_of_both_tokens_count(chain):
    """A token with 6 decimals paired with a stable one with 6, at tick 0: one for one."""
    stable = chain.reference_pools[0].stable
    token: Token = make_pool_token(tick=0, decimals=6, paired_token=stable, quote_decimals=6, supply=10**10)
    refresh_markets(chain, [token.pk])
    assert (float(token.market.price_quote), token.market.market_cap) == (1, 10_000)
