"""Tests of tokens/market/own_trending.py, and of `GET /api/tokens/trending` on chains with own trades."""

import time
from datetime import timedelta
from decimal import Decimal
from random import Random

import pytest
from django.db import connection
from django.utils import timezone

from config.redis.connection import PREFIX, redis_client
from tests.rows.factories import TokenFactory
from tests.rows.token_lists import price
from tests.tokens.market.test_trending import PATH, POOL_KEYS
from tokens.chains.addresses import address_key
from tokens.market.own_trending import PAGE_SIZE, read_pools
from tokens.market.pool_statistics import PERIOD_SECONDS
from tokens.market.trending_sorts import TRENDING_SORTS
from tokens.models import Market, MinuteCandle, PoolTrade, RollingSum, Token
from tokens.models.rolling_sum import ROLLING_PERIODS

pytestmark = pytest.mark.django_db

CHAIN = 8453
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@pytest.fixture(autouse=True)
def partitions():
    """Create one partition for all times in each partitioned table; gone after the test."""
    with connection.cursor() as cursor:
        for table in ("tokens_trade", "tokens_minutecandle"):
            cursor.execute(f"CREATE TABLE {table}_of_test PARTITION OF {table} DEFAULT")


@pytest.fixture(autouse=True)
def nothing_cached():
    for key in redis_client().scan_iter(f"{PREFIX}shared:trending:*"):
        redis_client().delete(key)


def trade(token, *, ago, trader=b"\1" * 20, is_buy=True, is_conversion=False):
    now = timezone.now()
    PoolTrade.objects.create(
        token=token, at=now - ago, position=PoolTrade.objects.count(), tx_hash=b"\0" * 32, trader=trader, is_buy=is_buy,
        is_conversion=is_conversion, amount_token=1, amount_quote=1, price=Decimal(1), quote_usd=None,
    )  # fmt: skip


def candle(token, *, ago, opening=1.0, close=1.0, volume=0, buys=0, sells=0, usd=True):
    at = (timezone.now() - ago).replace(second=0, microsecond=0)
    prices = {"open": opening, "high": max(opening, close), "low": min(opening, close), "close": close}
    in_usd = {f"{name}_usd": value * 3000 if usd else None for name, value in prices.items()}
    in_quote = {name: Decimal(str(value)) for name, value in prices.items()}
    MinuteCandle.objects.create(
        token=token, at=at, first_position=1, last_position=2, volume_quote=1, volume_usd=volume, buys=buys,
        sells=sells, **in_quote, **in_usd,
    )  # fmt: skip


def traded(token, *, ago=MINUTE, volume=10, buys=3, sells=2, **columns):
    """Give a token a market with its last trade `ago`, and the rolling sums for all periods that contain it."""
    price(token, last_trade_at=timezone.now() - ago, **columns)
    for seconds in ROLLING_PERIODS:
        if ago < timedelta(seconds=seconds):
            RollingSum.objects.create(
                token=token, seconds=seconds, volume_quote=1, volume_usd=volume, buys=buys, sells=sells, traders=1
            )
    return token


def addresses(sort, page=1):
    return [pool.address for pool in read_pools(CHAIN, sort=sort, page=page)]


# Column of Market by sort, as in the API's description.
SORTED_BY = {
    "h24_tx_count": "tx_count_24h",
    "h24_volume_usd": "volume_24h",
    "h1_price_change_percentage": "price_change_1h",
    "h6_price_change_percentage": "price_change_6h",
    "h24_price_change_percentage": "price_change_24h",
    "fdv_usd": "market_cap",
    "reserve_in_usd": "liquidity_usd",
}
TRADED_WITHIN = {"m5": 5 * MINUTE, "h1": HOUR, "h6": 6 * HOUR}


def expected(tokens, sort):
    """Return the pools by a sort, from the rows as they were made."""
    name, _, direction = sort.rpartition("_")
    if sort == "pool_created_at_desc":
        return [token.pool_address for token in sorted(tokens, key=lambda token: token.deployed_at, reverse=True)]
    within = TRADED_WITHIN.get(name.partition("_")[0], DAY)
    active = [token for token in tokens if token.ago is not None and token.ago < within]

    def value(token):
        if direction == "trending":
            return token.columns["trending"]
        return token.change_5m if name.startswith("m5") else token.columns[SORTED_BY[name]]

    sign = 1 if direction == "asc" else -1
    newest = sorted(active, key=lambda token: -token.pk)
    known = sorted((token for token in newest if value(token) is not None), key=lambda token: sign * value(token))
    return [token.pool_address for token in [*known, *(token for token in newest if value(token) is None)]]


def test_every_sort_has_its_pools_in_order_on_all_pages():
    seed = time.time_ns()
    print(f"seed {seed}")
    dice = Random(seed)
    tokens = TokenFactory.create_batch(65)
    ages = [2 * MINUTE, 30 * MINUTE, 3 * HOUR, 20 * HOUR, 30 * HOUR, None]
    for place, token in enumerate(tokens):
        names = (*SORTED_BY.values(), "trending")
        token.columns = {
            name: float(number) for name, number in zip(names, dice.sample(range(-90, 900), 8), strict=True)
        }
        token.columns["tx_count_24h"] = place
        token.ago = dice.choice(ages[:4] if place < 50 else ages)
        token.change_5m = None
        if token.ago is not None:
            traded(token, ago=token.ago, price_usd=3000.0 * (place + 1), price_quote=place + 1, **token.columns)
            candle(token, ago=9 * MINUTE, close=float(place + 2))
            candle(token, ago=2 * HOUR, close=77.0)
            token.change_5m = (place + 1) / (place + 2)
    for hidden in ({"blocked": True}, {"unindexed": True}, {"chain_id": 1}, {"pool_address": ""}):
        traded(
            TokenFactory(**hidden), volume_24h=1e9, trending=1e9, market_cap=1e9, liquidity_usd=1e9, tx_count_24h=10**6
        )
    lengths = set()
    for sort in TRENDING_SORTS:
        found = [address for page in range(1, 5) for address in addresses(sort, page)]
        assert found == [address_key(pool) for pool in expected(tokens, sort)], sort
        lengths.add(len(found))
    assert max(lengths) == 65 and len(addresses("pool_created_at_desc")) == PAGE_SIZE and len(lengths) > 3


def test_tokens_without_a_value_come_last_in_both_directions():
    known, unknown = TokenFactory.create_batch(2)
    traded(known, volume_24h=5.0)
    traded(unknown)
    for direction in ("desc", "asc"):
        assert addresses(f"h24_volume_usd_{direction}") == [known.pool_address, unknown.pool_address]


def test_a_pool_has_the_statistics_of_its_rows():
    token = TokenFactory(symbol="DOG", pair="WETH")
    traded(
        token, volume=25, buys=7, sells=5, price_usd=0.00000125, quote_price_usd=2500.0, price_quote=Decimal("5e-10"),
        market_cap=125000.0, liquidity_usd=9000.5, price_change_1h=-2.0, price_change_6h=1e-7, price_change_24h=None,
    )  # fmt: skip
    candle(token, ago=7 * MINUTE, close=0.00000100 / 3000, volume=3, buys=1)
    candle(token, ago=2 * MINUTE, close=9.0, volume=2, buys=1, sells=1)
    candle(token, ago=20 * MINUTE, close=9.0, volume=1, sells=2)
    for ago, trader, is_buy in (
        (1, 1, True),
        (2, 1, True),
        (3, 1, False),
        (3, 2, True),
        (40, 3, True),
        (60 * 20, 4, 0),
    ):
        trade(token, ago=ago * MINUTE, trader=bytes([trader]) * 20, is_buy=bool(is_buy))
    # Trades without a trader count no trader.
    trade(token, ago=MINUTE, trader=None)
    trade(token, ago=MINUTE, trader=b"\7" * 20, is_conversion=True)
    trade(token, ago=25 * HOUR, trader=b"\7" * 20)
    (pool,) = read_pools(CHAIN, sort="fdv_usd_desc", page=1)
    assert (pool.name, pool.address) == ("DOG / WETH", token.pool_address)
    assert (pool.base_token, pool.quote_token) == (token.contract_address.lower(), token.paired_token.lower())
    assert (pool.base_token_price_usd, pool.quote_token_price_usd) == ("0.00000125", "2500.0")
    assert (pool.fdv_usd, pool.market_cap_usd, pool.reserve_in_usd) == ("125000.0", "125000.0", "9000.5")
    assert pool.price_change_percentage == {"m5": "25.0", "h1": "-2.0", "h6": "0.0", "h24": None}
    assert pool.volume_usd == {"m5": "2", "m15": "5", "m30": "6", "h1": "25", "h6": "25", "h24": "25"}
    counts = {period: tuple(pool.transactions[period].values()) for period in PERIOD_SECONDS}
    assert list(pool.transactions["m5"]) == ["buys", "sells", "buyers", "sellers"]
    assert counts == {
        "m5": (1, 1, 2, 1), "m15": (2, 1, 2, 1), "m30": (2, 3, 2, 1), "h1": (7, 5, 3, 1), "h6": (7, 5, 3, 1),
        "h24": (7, 5, 3, 2),
    }  # fmt: skip


def test_without_a_price_in_usd_there_are_no_values_in_usd_and_changes_are_in_the_quote():
    token = TokenFactory()
    traded(token, price_usd=None, price_quote=3)
    candle(token, ago=9 * MINUTE, close=2.0, usd=False)
    (pool,) = read_pools(CHAIN, sort="m5_trending", page=1) or read_pools(CHAIN, sort="fdv_usd_asc", page=1)
    assert (pool.base_token_price_usd, set(pool.volume_usd.values())) == (None, {None})
    assert pool.price_change_percentage["m5"] == "50.0"
    assert pool.transactions["h24"]["buys"] == 3


def test_a_new_pool_changes_from_its_launch_and_one_without_trades_not_at_all():
    new, untraded = TokenFactory.create_batch(2)
    traded(new, price_usd=6000.0, price_quote=2, market_cap=6e7)
    candle(new, ago=MINUTE, opening=1.0, close=2.0)
    RollingSum.objects.filter(token=new, seconds=HOUR.total_seconds()).update(opening_usd=1500.0)
    Market.objects.filter(token=untraded).update(price_usd=2.0, price_quote=1, market_cap=2e4)
    pools = {pool.address: pool for pool in read_pools(CHAIN, sort="pool_created_at_desc", page=1)}
    assert pools[new.pool_address].price_change_percentage["m5"] == "300.0"
    assert pools[untraded.pool_address].price_change_percentage["m5"] == "0.0"


# The endpoint.


def test_a_page_has_our_pools_with_their_tokens_and_costs_the_provider_no_call(client, market, settings):
    settings.MARKET_PROVIDER_CHAINS = (1,)
    token = traded(TokenFactory(), price_change_24h=5.0)
    answer = client.get(PATH)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "public, s-maxage=300")
    assert "Warning" not in answer.headers
    body = answer.json()
    assert body["trending"] == list(body["tokens"]) == [token.pool_address]
    record = body["tokens"][token.pool_address]
    assert set(record["pool"]) == POOL_KEYS and record["id"] == token.pk
    plain = client.get(f"/api/tokens/fetch-by-pool-address?poolAddress={token.pool_address}").json()["data"]
    assert record == plain | {"pool": record["pool"]}
    assert not market.received


def test_a_limit_returns_the_first_pools_that_are_not_blocked(client):
    tokens = [traded(TokenFactory(), price_change_24h=change) for change in (4.0, 3.0, 2.0, 1.0)]
    Token.objects.filter(pk=tokens[1].pk).update(blocked=True)
    first, _, third, _ = (token.pool_address for token in tokens)
    body = client.get(PATH, {"limit": 2}).json()
    assert body["trending"] == list(body["tokens"]) == [first, third]
    assert len(client.get(PATH).json()["trending"]) == len(client.get(PATH, {"limit": 20}).json()["trending"]) == 3
    assert [client.get(PATH, {"limit": limit}).status_code for limit in (0, 21)] == [400, 400]


def test_a_page_is_computed_once_for_all_and_blocked_tokens_leave_it_at_once(client, django_assert_num_queries):
    tokens = [traded(TokenFactory(), price_change_24h=number) for number in (1.0, 2.0)]
    assert client.get(PATH).json()["trending"] == [token.pool_address for token in reversed(tokens)]
    traded(TokenFactory(), price_change_24h=9.0)
    Token.objects.filter(pk=tokens[0].pk).update(blocked=True)
    with django_assert_num_queries(1):
        assert client.get(PATH).json()["trending"] == [tokens[1].pool_address]


def test_without_chain_it_is_the_first_with_a_source_and_one_with_a_node_before_others(client, market, settings):
    # The second chain is the provider's, which does not cover it.
    settings.MARKET_PROVIDER_CHAINS = (84532,)
    mine = traded(TokenFactory(chain_id=1), price_change_24h=1.0)
    other = traded(TokenFactory(), price_change_24h=1.0)
    for nodes, token in (((), other), ((84532,), other), ((84532, 1), mine)):
        settings.RPC_URLS = dict.fromkeys(nodes, ())
        assert client.get(PATH).json()["trending"] == [token.pool_address]
    assert client.get(PATH, {"chainId": 84532}).status_code == 400
    assert not market.received
