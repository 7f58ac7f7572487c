"""Sparklines: the prices of 24 hours, or since a later launch, as a small line from stored candles."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from config.postgresql.replica import read_connection
from tokens.models.candle import HOUR

HOURS = 24
# A token that is launched within these hours has a point for each of so many parts of its life at most.
PARTS = 32
_MINUTE = timedelta(minutes=1)
# Units of the SVG's viewBox, which are CSS pixels.
WIDTH, HEIGHT = 96, 28
# Room for the stroke at the edges.
_MARGIN = 2

# The last minute of each part is one probe of the primary key, so that no token has more than PARTS rows.
_CLOSES = """SELECT token_id, at, close, close_usd FROM "tokens_candle"
WHERE token_id = ANY(%(old)s) AND seconds = %(hour)s AND at BETWEEN %(start)s AND %(now)s
UNION ALL
SELECT young.id, minute.at, minute.close, minute.close_usd
FROM unnest(%(young)s::bigint[], %(begins)s::timestamptz[], %(lengths)s::interval[]) AS young (id, begin, length)
CROSS JOIN generate_series(0, %(last)s) AS part
CROSS JOIN LATERAL (
    SELECT at, close, close_usd FROM "tokens_minutecandle"
    WHERE token_id = young.id AND at >= begin + part * length AND at < begin + (part + 1) * length
    ORDER BY at DESC LIMIT 1
) AS minute
ORDER BY 1, 2
"""


class Close(NamedTuple):
    """Price at the end of a candle, in the quote token and in USD; None is unknown."""

    at: datetime
    quote: Decimal | None
    usd: float | None


@dataclass(frozen=True)
class Sparkline:
    """Line of a token's prices: the `points` of an SVG polyline, and `up`, `down` or an empty text."""

    points: str
    direction: str
    # Whether it begins at the launch instead of 24 hours ago.
    is_since_launch: bool


def draw_sparklines(launches: Mapping[int, datetime], *, now: datetime) -> dict[int, Sparkline]:
    """Return token id -> line, from the ids and times of launch, in one query.

    A token that was launched within the last 24 hours has the minutes since then, the others have hours. Tokens with
    fewer than two points are absent.
    """
    hour = now.replace(minute=0, second=0, microsecond=0)
    start = hour - timedelta(hours=HOURS - 1)
    begins = {token_id: at.replace(second=0, microsecond=0) for token_id, at in launches.items() if at >= start}
    lines = {}
    for token_id, closes in _read_closes(launches, begins, start, now).items():
        is_young = token_id in begins
        begin, end = (begins[token_id], now) if is_young else (start, hour)
        line = draw_line(closes, begin=begin, end=end, is_since_launch=is_young)
        if line:
            lines[token_id] = line
    return lines


def _read_closes(
    launches: Mapping[int, datetime], begins: Mapping[int, datetime], start: datetime, now: datetime
) -> dict[int, list[Close]]:
    """Return token id -> closes in the sequence of time; `begins` has the young tokens' first minutes."""
    parameters = {
        "old": [token_id for token_id in launches if token_id not in begins],
        "young": list(begins),
        "begins": list(begins.values()),
        # Whole minutes, the last part ending after now; one for a launch of which this clock is behind.
        "lengths": [max((now - begin) // _MINUTE, 0) // PARTS * _MINUTE + _MINUTE for begin in begins.values()],
        "last": PARTS - 1,
        "hour": HOUR,
        "start": start,
        "now": now,
    }
    with read_connection().cursor() as cursor:
        cursor.execute(_CLOSES, parameters)
        return {
            token_id: [Close(*row[1:]) for row in rows] for token_id, rows in groupby(cursor.fetchall(), itemgetter(0))
        }


def draw_line(closes: Sequence[Close], *, begin: datetime, end: datetime, is_since_launch: bool) -> Sparkline | None:
    """Return the line through prices within a period of time; None with fewer than two."""
    # In USD where each candle has such a price, as other numbers of the row are.
    in_usd = all(close.usd is not None for close in closes)
    prices = [(close.at, close.usd if in_usd else close.quote) for close in closes]
    known = [(at, float(price)) for at, price in prices if price is not None and math.isfinite(price)]
    if len(known) < 2:
        return None
    # A block's time may be ahead of this clock.
    end = max(end, known[-1][0])
    lowest, highest = min(price for _, price in known), max(price for _, price in known)
    points = " ".join(
        f"{_scale((at - begin) / (end - begin), WIDTH):.1f},"
        f"{HEIGHT - _scale(0.5 if highest == lowest else (price - lowest) / (highest - lowest), HEIGHT):.1f}"
        for at, price in known
    )
    change = known[-1][1] - known[0][1]
    return Sparkline(points, "up" if change > 0 else "down" if change < 0 else "", is_since_launch)


def _scale(part: float, size: int) -> float:
    """Return the position of a part, from 0 to 1, within the margins."""
    return _MARGIN + part * (size - 2 * _MARGIN)
