"""Trending pools by a chain's own trades: pages for every API sort, with pool statistics."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection
from django.db.models import Case, Exists, F, FloatField, OuterRef, Subquery, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce, NullIf
from django.utils import timezone

from config.parsing.timestamps import format_timestamp
from tokens.chains.addresses import address_key
from tokens.market.pool_statistics import CHANGE_PERIODS, PERIOD_SECONDS, PoolStatistics
from tokens.models import MinuteCandle, RollingSum, Token
from tokens.models.candle import HOUR
from tokens.models.rolling_sum import ROLLING_PERIODS
from tokens.models.token import TokenQuerySet
from tokens.trades.quote_rates import RateSince

PAGE_SIZE = 20

# Sort without its direction -> column. `select_tokens` handles the other sorts.
_COLUMNS = {
    "h24_tx_count": "market__tx_count_24h",
    "h24_volume_usd": "market__volume_24h",
    "m5_price_change_percentage": "price_change_5m",
    "h1_price_change_percentage": "market__price_change_1h",
    "h6_price_change_percentage": "market__price_change_6h",
    "h24_price_change_percentage": "market__price_change_24h",
    "fdv_usd": "market__market_cap",
    "reserve_in_usd": "market__liquidity_usd",
}
# Percentage points have at most this many decimals.
_PERCENT_DECIMALS = 3

# Buys, sells and their USD by token and period: longer periods from rolling sums, shorter ones from minute candles.
_SUMS = """SELECT token_id, seconds, buys, sells, volume_usd FROM "tokens_rollingsum" WHERE token_id = ANY(%(tokens)s)
UNION ALL
SELECT token_id, seconds, sum(buys), sum(sells), sum(volume_usd)
FROM tokens_minutecandle JOIN unnest(%(short)s) AS seconds
    ON at >= %(minute)s - seconds * interval '1 second'
WHERE token_id = ANY(%(tokens)s) AND at >= %(minute)s - interval '30 minutes'
GROUP BY token_id, seconds
"""
# Distinct known buyers and sellers by token and period.
_TRADERS = """SELECT token_id, seconds, count(*) FILTER (WHERE bought_at >= %(now)s - seconds * interval '1 second'),
    count(*) FILTER (WHERE sold_at >= %(now)s - seconds * interval '1 second')
FROM (
    SELECT token_id, max(at) FILTER (WHERE is_buy) AS bought_at, max(at) FILTER (WHERE NOT is_buy) AS sold_at
    FROM "tokens_trade"
    WHERE token_id = ANY(%(tokens)s) AND at >= %(now)s - interval '1 day' AND trader IS NOT NULL AND NOT is_conversion
    GROUP BY token_id, trader
) AS traders CROSS JOIN unnest(%(periods)s) AS seconds
GROUP BY token_id, seconds
"""


def read_pools(chain_id: int, *, sort: str, page: int) -> list[PoolStatistics]:
    """Return page 1 or later of a chain's listed pools, sorted by one of TRENDING_SORTS, in three queries."""
    now = timezone.now()
    tokens = list(select_tokens(chain_id, sort=sort, now=now)[(page - 1) * PAGE_SIZE : page * PAGE_SIZE])
    ids = [token.pk for token in tokens]
    sums, traders = _read_sums(ids, now), _read_traders(ids, now)
    return [_describe_pool(token, sums.get(token.pk, {}), traders.get(token.pk, {})) for token in tokens]


def select_tokens(chain_id: int, *, sort: str, now: datetime) -> TokenQuerySet:
    """Return the listed tokens with a trade in the sort's period, sorted, those without a value last.

    The period is a day if the sort names none; new pools need no trade. Rolling sums limit the statement to tokens with
    trades in the period.
    """
    listed = Token.objects.listed().filter(chain_id=chain_id).exclude(pool_address="")
    minute = now.replace(second=0, microsecond=0)
    tokens = listed.select_related("market").annotate(
        price_change_5m=_change_since(minute - timedelta(minutes=5), chain_id)
    )
    name, _, direction = sort.rpartition("_")
    if name == "pool_created_at":
        return tokens.order_by("-deployed_at", "-id")
    period = name.partition("_")[0]
    seconds = PERIOD_SECONDS.get(period, max(ROLLING_PERIODS))
    tokens = tokens.filter(
        rolling_sums__seconds=max(seconds, min(ROLLING_PERIODS)),
        market__last_trade_at__gte=now - timedelta(seconds=seconds),
    )
    if direction == "trending":
        return tokens.filter(market__trending__isnull=False).order_by("-market__trending", "-market__token_id")
    column = F(_COLUMNS[name])
    key = column.desc(nulls_last=True) if direction == "desc" else column.asc(nulls_last=True)
    return tokens.order_by(key, "-id")


def _change_since(start: datetime, chain_id: int) -> Case:
    """Return an expression for the price change since a full minute, in percentage points: in USD if known.

    0 without a trade since then. Without an earlier trade, the launch's starting price is compared, in USD by the rate
    when the period begins, or at a later launch.
    """
    earlier = MinuteCandle.objects.filter(token_id=OuterRef("pk"), at__lt=start).order_by("-at")
    hour = RollingSum.objects.filter(token_id=OuterRef("pk"), seconds=HOUR)
    launched = Cast(Subquery(hour.values("opening_price")[:1]), FloatField())
    in_usd = Coalesce(
        launched * Cast(RateSince(start, chain_id), FloatField()), Subquery(hour.values("opening_usd")[:1])
    )

    def ratio(price: str, before: Combinable) -> Combinable:
        return Cast(F(f"market__{price}"), FloatField()) / NullIf(Cast(before, FloatField()), 0.0)

    change = Coalesce(
        ratio("price_usd", Case(When(Exists(earlier), then=Subquery(earlier.values("close_usd")[:1])), default=in_usd)),
        ratio("price_quote", Coalesce(Subquery(earlier.values("close")[:1]), launched, F("market__price_quote"))),
    )
    return Case(
        When(market__price_quote__isnull=True, then=None),
        # The price has no support.
        When(market__price_usd__isnull=False, market__market_cap__isnull=True, then=None),
        When(market__last_trade_at__gte=start, then=Cast((change - 1.0) * 100.0, FloatField())),
        default=0.0,
        output_field=FloatField(),
    )


def _read_sums(ids: Sequence[int], now: datetime) -> dict[int, dict[int, tuple[int, int, Decimal]]]:
    """Return token id -> period in seconds -> buys, sells and volume in USD."""
    short = [seconds for seconds in PERIOD_SECONDS.values() if seconds not in ROLLING_PERIODS]
    minute = now.replace(second=0, microsecond=0)
    sums: dict[int, dict[int, tuple[int, int, Decimal]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_SUMS, {"tokens": list(ids), "short": short, "minute": minute})
        for token_id, seconds, *values in cursor.fetchall():
            sums.setdefault(token_id, {})[seconds] = tuple(values)
    return sums


def _read_traders(ids: Sequence[int], now: datetime) -> dict[int, dict[int, tuple[int, int]]]:
    """Return token id -> period in seconds -> buyers and sellers."""
    traders: dict[int, dict[int, tuple[int, int]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_TRADERS, {"tokens": list(ids), "periods": list(PERIOD_SECONDS.values()), "now": now})
        for token_id, seconds, buyers, sellers in cursor.fetchall():
            traders.setdefault(token_id, {})[seconds] = buyers, sellers
    return traders


def _describe_pool(
    token: Any, sums: Mapping[int, tuple[int, int, Decimal]], traders: Mapping[int, tuple[int, int]]
) -> PoolStatistics:
    """Return pool statistics for a token that `select_tokens` annotated."""
    market = token.market
    changes = (token.price_change_5m, market.price_change_1h, market.price_change_6h, market.price_change_24h)
    volumes, transactions = {}, {}
    for period, seconds in PERIOD_SECONDS.items():
        buys, sells, volume = sums.get(seconds, (0, 0, Decimal(0)))
        buyers, sellers = traders.get(seconds, (0, 0))
        # Without a quote rate, trades have no value in USD.
        volumes[period] = None if market.price_usd is None else _digits(volume)
        transactions[period] = {"buys": buys, "sells": sells, "buyers": buyers, "sellers": sellers}
    return PoolStatistics(
        address=address_key(token.pool_address),
        name=f"{token.symbol} / {token.pair}",
        base_token=address_key(token.contract_address),
        quote_token=address_key(token.paired_token),
        base_token_price_usd=_digits(market.price_usd),
        quote_token_price_usd=_digits(market.quote_price_usd),
        pool_created_at=format_timestamp(token.deployed_at),
        # The whole supply is in circulation.
        fdv_usd=_digits(market.market_cap),
        market_cap_usd=_digits(market.market_cap),
        reserve_in_usd=_digits(market.liquidity_usd),
        # Plus 0.0, because a rounded -0.0 has a sign.
        price_change_percentage={
            period: _digits(None if change is None else round(change, _PERCENT_DECIMALS) + 0.0)
            for period, change in zip(CHANGE_PERIODS, changes, strict=True)
        },
        volume_usd=volumes,
        transactions=transactions,
    )


def _digits(value: float | Decimal | None) -> str | None:
    """Return a number in decimal digits without an exponent."""
    return None if value is None else f"{Decimal(str(value)):f}"
