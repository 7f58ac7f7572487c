"""Price lines for lists and share cards: 24 hours, or since a later launch, from stored candles."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from config.postgresql.replica import read_connection
from config.site.formats import direction
from tokens.models import Token
from tokens.models.candle import DAY, HOUR

HOURS = 24
# A token launched within these hours has at most one point for each of so many equal parts since its launch.
PARTS = 32
_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)
# SVG viewBox units, which are CSS pixels.
WIDTH, HEIGHT = 96, 28
# Room for the stroke at the edges.
_MARGIN = 2

# The price that the change over 24 hours counts from precedes the candles. Each part's last minute is one primary key
# lookup, so that no token has more than PARTS candles.
_PRICES = """SELECT token_id, NULL AS until, opening_price, opening_usd, NULL, NULL FROM "tokens_rollingsum"
WHERE token_id = ANY(%(old)s || %(young)s::bigint[]) AND seconds = %(day)s AND opening_price IS NOT NULL
UNION ALL
SELECT token_id, at + %(one_hour)s, close, close_usd, open, open_usd FROM "tokens_candle"
WHERE token_id = ANY(%(old)s) AND seconds = %(hour)s AND at BETWEEN %(start)s AND %(now)s
UNION ALL
SELECT young.id, minute.at + %(one_minute)s, minute.close, minute.close_usd, minute.open, minute.open_usd
FROM unnest(%(young)s::bigint[], %(begins)s::timestamptz[], %(lengths)s::interval[]) AS young (id, begin, length)
CROSS JOIN generate_series(0, %(last)s) AS part
CROSS JOIN LATERAL (
    SELECT at, close, close_usd, open, open_usd FROM "tokens_minutecandle"
    WHERE token_id = young.id AND at >= begin + part * length AND at < begin + (part + 1) * length
    ORDER BY at DESC LIMIT 1
) AS minute
ORDER BY 1, 2 NULLS FIRST
"""


class PriceAt(NamedTuple):
    """Price at a time, in the quote token and in USD; None is unknown."""

    time: datetime
    quote: Decimal | None
    usd: float | None


@dataclass(frozen=True)
class Sparkline:
    """A token's price line, oldest first, and its direction: `up`, `down` or an empty text."""

    # Distance from the left and from below, in widths and heights, from 0 to 1.
    coordinates: tuple[tuple[float, float], ...]
    direction: str
    # Whether it begins at the launch instead of 24 hours ago.
    is_since_launch: bool

    @property
    def points(self) -> str:
        """Return the `points` attribute for an SVG polyline."""
        return " ".join(f"{_scale(x, WIDTH):.1f},{HEIGHT - _scale(y, HEIGHT):.1f}" for x, y in self.coordinates)


def draw_sparklines(tokens: Collection[Token], *, now: datetime) -> dict[int, Sparkline]:
    """Return token id -> line for tokens that are read with their markets, in one query.

    A token that was launched within the last 24 hours has the minutes since then, the others have hours. Like the shown
    change, a line leads from the price 24 hours ago, or at launch, to the market's price. Tokens without candles and
    trades in this time are absent.
    """
    hour = now.replace(minute=0, second=0, microsecond=0)
    start = hour - timedelta(hours=HOURS - 1)
    begins = {
        token.pk: token.deployed_at.replace(second=0, microsecond=0) for token in tokens if token.deployed_at >= start
    }
    rows = _read_rows([token.pk for token in tokens if token.pk not in begins], begins, start, now)
    lines = {}
    for token in tokens:
        if token.pk not in rows:
            continue
        begin, end = start, hour + _HOUR
        if is_young := token.pk in begins:
            # A block's time may be ahead of this clock.
            end = max(now, (begin := begins[token.pk]) + _MINUTE)
        prices, market = _prices(rows[token.pk], begin), token.market
        if market.price_quote is not None or market.price_usd is not None:
            prices.append(PriceAt(end, market.price_quote, market.price_usd))
        line = draw_line(prices, begin=begin, end=end, is_since_launch=is_young, change=market.price_change_24h)
        if line:
            lines[token.pk] = line
    return lines


def _read_rows(
    old: Sequence[int], begins: Mapping[int, datetime], start: datetime, now: datetime
) -> dict[int, list[tuple[Any, ...]]]:
    """Return token id -> _PRICES rows, oldest first; `begins` has the young tokens' first minutes."""
    parameters = {
        "old": old,
        "young": list(begins),
        "begins": list(begins.values()),
        # Whole minutes, the last part ending after now; one minute if this clock is behind the launch's block time.
        "lengths": [max((now - begin) // _MINUTE, 0) // PARTS * _MINUTE + _MINUTE for begin in begins.values()],
        "last": PARTS - 1,
        "day": DAY,
        "hour": HOUR,
        "one_hour": _HOUR,
        "one_minute": _MINUTE,
        "start": start,
        "now": now,
    }
    with read_connection().cursor() as cursor:
        cursor.execute(_PRICES, parameters)
        return {token_id: [row[1:] for row in rows] for token_id, rows in groupby(cursor.fetchall(), itemgetter(0))}


def _prices(rows: Sequence[tuple[Any, ...]], begin: datetime) -> list[PriceAt]:
    """Return the opening price, else the first candle's open, and the closes."""
    until, *opening = rows[0]
    closes = [PriceAt(*row[:3]) for row in rows if row[0] is not None]
    return [PriceAt(begin, *(opening[:2] if until is None else opening[2:])), *closes]


def draw_line(
    prices: Sequence[PriceAt], *, begin: datetime, end: datetime, is_since_launch: bool, change: float | None
) -> Sparkline | None:
    """Return the line through prices within a period; None with fewer than two.

    `change`, in percentage points, decides its direction; if it is unknown, the first and last price do.
    """
    # In USD if both ends have a USD price, like the change.
    in_usd = bool(prices) and bool(prices[0].usd) and prices[-1].usd is not None
    # The current candle ends now, with the market's price.
    by_time = {min(price.time, end): price.usd if in_usd else price.quote for price in prices}
    points = [(time, float(price)) for time, price in by_time.items() if price is not None and math.isfinite(price)]
    if len(points) < 2:
        return None
    lowest, highest = min(price for _, price in points), max(price for _, price in points)
    coordinates = tuple(
        ((time - begin) / (end - begin), 0.5 if highest == lowest else (price - lowest) / (highest - lowest))
        for time, price in points
    )
    rise = points[-1][1] - points[0][1] if change is None else change
    return Sparkline(coordinates, direction(rise), is_since_launch)


def _scale(coordinate: float, size: int) -> float:
    """Return the position within the margins for a coordinate from 0 to 1."""
    return _MARGIN + coordinate * (size - 2 * _MARGIN)
