"""Sparklines: the prices of 24 hours as a small line, from stored hour candles."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter

from tokens.models import Candle
from tokens.models.candle import HOUR

HOURS = 24
# Units of the SVG's viewBox, which are CSS pixels.
WIDTH, HEIGHT = 96, 28
# Room for the stroke at the edges.
_MARGIN = 2


@dataclass(frozen=True)
class Sparkline:
    """Line of a token's prices: the `points` of an SVG polyline, and `up`, `down` or an empty text."""

    points: str
    direction: str


def draw_sparklines(token_ids: Sequence[int], *, now: datetime) -> dict[int, Sparkline]:
    """Return token id -> line of the last 24 hours, in one query; tokens with fewer than two points are absent."""
    start = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS - 1)
    candles = Candle.objects.filter(token_id__in=token_ids, seconds=HOUR, at__gte=start, at__lte=now)
    rows = candles.order_by("token_id", "at").values_list("token_id", "at", "close", "close_usd")
    lines = {}
    for token_id, group in groupby(rows, key=itemgetter(0)):
        closes = list(group)
        hours = [(at - start) / timedelta(hours=1) for _, at, _, _ in closes]
        usd = [close_usd for *_, close_usd in closes if close_usd is not None]
        # In USD where each hour has such a price, as other numbers of the row are.
        prices = usd if len(usd) == len(closes) else [float(close) for _, _, close, _ in closes if close is not None]
        line = draw_line(zip(hours, prices, strict=True))
        if line:
            lines[token_id] = line
    return lines


def draw_line(prices: Iterable[tuple[float, float]]) -> Sparkline | None:
    """Return the line through prices, each with its hour from 0 to 23; None with fewer than two."""
    known = [(hour, price) for hour, price in prices if math.isfinite(price)]
    if len(known) < 2:
        return None
    lowest, highest = min(price for _, price in known), max(price for _, price in known)
    points = " ".join(
        f"{_scale(hour, 0, HOURS - 1, WIDTH):.1f},{HEIGHT - _scale(price, lowest, highest, HEIGHT):.1f}"
        for hour, price in known
    )
    change = known[-1][1] - known[0][1]
    return Sparkline(points, "up" if change > 0 else "down" if change < 0 else "")


def _scale(value: float, lowest: float, highest: float, size: int) -> float:
    """Return the position of a value within the margins; of equal values, the middle."""
    part = 0.5 if highest == lowest else (value - lowest) / (highest - lowest)
    return _MARGIN + part * (size - 2 * _MARGIN)
