"""A token's candles for any interval, folded in the database from stored minutes, hours or days."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

from django.utils import timezone

from config.postgresql.compiled_queries import parse_timestamps_in_c
from config.postgresql.replica import read_connection
from tokens.market.trading.responses import CandleJson
from tokens.models.candle import DAY, HOUR
from tokens.trades.market_rows import STARTING_PRICE

MINUTE = 60
# Unix seconds after every candle.
NO_END = 253_402_300_800


class CandleInterval(NamedTuple):
    """Seconds of an interval, and of the stored candles that it is folded from."""

    seconds: int
    stored: int


INTERVALS: Mapping[str, CandleInterval] = {
    "1m": CandleInterval(MINUTE, MINUTE),
    "5m": CandleInterval(5 * MINUTE, MINUTE),
    "15m": CandleInterval(15 * MINUTE, MINUTE),
    "1h": CandleInterval(HOUR, HOUR),
    "4h": CandleInterval(4 * HOUR, HOUR),
    "1d": CandleInterval(DAY, DAY),
}
_SOURCES = {
    MINUTE: '"tokens_minutecandle" WHERE',
    HOUR: f'"tokens_candle" WHERE seconds = {HOUR} AND',
    DAY: f'"tokens_candle" WHERE seconds = {DAY} AND',
}
# A candle opens at the close before it. The token's first candle opens at the starting price, in USD by its first
# trade's rate. If the starting price is unknown, as on Solana, or the chain is followed from a later block than the
# launch, its stored open counts: the price after its first trade.
# `stored` limits the rows to the most that `candles` intervals can have: the newest rows make up these intervals
# completely, and a request costs the same for any range.
_OPENED = """WITH newest AS (
    SELECT * FROM {source} token_id = %(token_id)s AND at >= to_timestamp(%(first)s) AND at < to_timestamp(%(end)s)
    ORDER BY at DESC LIMIT %(stored)s
),
before AS ({before}),
launched AS (
    SELECT {starting_price} AS price FROM tokens_token AS token
    WHERE token.id = %(token_id)s AND NOT EXISTS (SELECT FROM before) AND coalesce((
        SELECT min(first_block) FROM tokens_coverage WHERE chain_id = token.chain_id
    ) <= token.block_number, true)
),
opened AS (
    SELECT *, coalesce(
        CASE WHEN lag(at) OVER times IS NOT NULL THEN lag(close{usd}) OVER times
            ELSE coalesce((SELECT close{usd} FROM before), (SELECT {launched} FROM launched)) END,
        open{usd}
    ) AS opening
    FROM newest WINDOW times AS (ORDER BY at)
)
"""
# The last stored candle before the range. Minutes may have been dropped, by whole weeks, but hours never are.
_BEFORE = """SELECT at, close, close_usd FROM {source} token_id = %(token_id)s AND at < (SELECT min(at) FROM newest)
ORDER BY at DESC LIMIT 1"""
_BEFORE_MINUTES = """({minutes}) UNION ALL (
    SELECT at, close, close_usd FROM {hours} token_id = %(token_id)s
        AND at <= (SELECT min(at) FROM newest) - interval '1 hour' ORDER BY at DESC LIMIT 1
) ORDER BY at DESC LIMIT 1"""
# For intervals that are stored.
_READ = """SELECT at, opening, greatest(high{usd}, opening), least(low{usd}, opening), close{usd},
    volume_quote, volume_usd, buys, sells, open_usd IS NOT NULL
FROM opened ORDER BY at DESC"""
_FOLD = """SELECT date_bin(make_interval(secs => %(seconds)s), at, 'epoch') AS start,
    (array_agg(opening ORDER BY at))[1], max(greatest(high{usd}, opening)), min(least(low{usd}, opening)),
    (array_agg(close{usd} ORDER BY at DESC))[1],
    sum(volume_quote), sum(volume_usd), sum(buys), sum(sells), bool_and(open_usd IS NOT NULL)
FROM opened GROUP BY start ORDER BY start DESC LIMIT %(candles)s"""
# Reads all of the token's candles in one size, because any number of new ones may lack a USD price.
_NEWEST_IN_USD = """SELECT date_bin(make_interval(secs => %(seconds)s), at, 'epoch') AS start
FROM {source} token_id = %(token_id)s AND at < to_timestamp(%(end)s)
GROUP BY start HAVING bool_and(open_usd IS NOT NULL) ORDER BY start DESC LIMIT 1"""


@dataclass(frozen=True, kw_only=True, slots=True)
class CandleRange:
    """The newest `limit` candles that begin within [start, end), in Unix seconds."""

    interval: CandleInterval
    start: int
    end: int
    limit: int

    @property
    def first(self) -> int:
        """Return when the first candle begins."""
        return -(-self.start // self.interval.seconds) * self.interval.seconds

    @property
    def stop(self) -> int:
        """Return when the last candle ends."""
        return -(-self.end // self.interval.seconds) * self.interval.seconds


@dataclass(frozen=True, slots=True)
class _Candle:
    # Unix seconds.
    start: int
    # Open, high, low and close; None if they are in USD and a trade has no USD price.
    prices: Sequence[float] | None
    volume_quote: int
    # None if a trade has no USD price.
    volume_usd: Decimal | None
    buys: int
    sells: int

    def without_trades(self, start: int) -> "_Candle":
        """Return a later candle without trades."""
        return _Candle(start, self.prices and [self.prices[3]] * 4, 0, Decimal(0), 0, 0)


def fetch_candles(token_id: int, candle_range: CandleRange, *, in_usd: bool, fill: bool) -> list[CandleJson]:
    """Return a range's candles, oldest first, in one query; with `in_usd`, only candles whose trades have USD prices.

    `fill` adds candles without trades, from the first stored candle to the current one.
    """
    if fill:
        # An interval without trades takes the price from the candle before it, which is within the limit.
        stored = _read_candles(token_id, replace(candle_range, start=0), in_usd=in_usd)
        candles = list(_filled(stored, candle_range))
    else:
        candles = _read_candles(token_id, candle_range, in_usd=in_usd)
    return [_describe(candle, candle.prices) for candle in candles if candle.prices]


def find_newest_in_usd(token_id: int, interval: CandleInterval, *, before: int) -> int | None:
    """Return when the newest candle before a time begins whose trades all have a USD price. One query.

    In Unix seconds; None without such a candle.
    """
    stop = CandleRange(interval=interval, start=0, end=before, limit=1).stop
    values = {"token_id": token_id, "seconds": interval.seconds, "end": stop}
    with read_connection().cursor() as cursor:
        cursor.execute(_NEWEST_IN_USD.format(source=_SOURCES[interval.stored]), values)
        row = cursor.fetchone()
    return None if row is None else int(row[0].timestamp())


def _read_candles(token_id: int, candle_range: CandleRange, *, in_usd: bool) -> list[_Candle]:
    interval = candle_range.interval
    source = _SOURCES[interval.stored]
    before = _BEFORE.format(source=source)
    if interval.stored == MINUTE:
        before = _BEFORE_MINUTES.format(minutes=before, hours=_SOURCES[HOUR])
    statement = (_OPENED + (_READ if interval.seconds == interval.stored else _FOLD)).format(
        usd="_usd" if in_usd else "",
        source=source,
        before=before,
        starting_price=STARTING_PRICE,
        launched="price::float8 * open_usd / nullif(open, 0)::float8" if in_usd else "price",
    )
    values = {
        "token_id": token_id,
        "seconds": interval.seconds,
        "first": candle_range.first,
        "end": candle_range.stop,
        "candles": candle_range.limit,
        "stored": candle_range.limit * (interval.seconds // interval.stored),
    }
    with read_connection().cursor() as cursor:
        parse_timestamps_in_c(cursor)
        cursor.execute(statement, values)
        rows = cursor.fetchall()
    return [
        _Candle(
            int(start.timestamp()),
            # Aggregates leave out an unknown price between known ones. Floats are written with the shortest digits that
            # parse to the same number.
            [float(price) for price in prices] if has_usd or not in_usd else None,
            int(volume_quote),
            volume_usd if has_usd else None,
            buys,
            sells,
        )
        for start, *prices, volume_quote, volume_usd, buys, sells, has_usd in reversed(rows)
    ]


def _filled(candles: Sequence[_Candle], candle_range: CandleRange) -> Iterator[_Candle]:
    """Yield the range's newest candles, with intervals without trades, up to the current interval."""
    if not candles:
        return
    seconds, now = candle_range.interval.seconds, int(timezone.now().timestamp())
    last = max(candles[-1].start, min(candle_range.stop - seconds, now // seconds * seconds))
    first = max(candle_range.first, last - (candle_range.limit - 1) * seconds, candles[0].start)
    by_start = {candle.start: candle for candle in candles}
    previous = max((candle for candle in candles if candle.start <= first), key=lambda candle: candle.start)
    for start in range(first, last + 1, seconds):
        previous = by_start.get(start) or previous.without_trades(start)
        yield previous


def _describe(candle: _Candle, prices: Sequence[float]) -> CandleJson:
    opened, high, low, close = prices
    return {
        "t": datetime.fromtimestamp(candle.start, UTC),
        "o": opened,
        "h": high,
        "l": low,
        "c": close,
        "volumeQuote": str(candle.volume_quote),
        "volumeUsd": None if candle.volume_usd is None else float(candle.volume_usd),
        "trades": candle.buys + candle.sells,
        "buys": candle.buys,
        "sells": candle.sells,
    }
