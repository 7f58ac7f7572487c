"""Token price chart: candles as a picture without scripts, and as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from config.operators.local_times import local_time
from tokens.market.trading.candle_pages import INTERVALS, CandleRange, fetch_candles
from tokens.market.trading.responses import CandleJson
from tokens.models.candle import DAY

# Each chart's title, interval and seconds.
_CHARTS = (("the last 24 hours, by 15 minutes", "15m", DAY), ("the last 7 days, by hour", "1h", 7 * DAY))
# The picture's height, and its least width in candles.
_HEIGHT, _MIN_WIDTH = 100, 24


@dataclass(frozen=True, kw_only=True)
class PriceChart:
    """Candles in a time range, oldest first, as the API has them."""

    title: str
    # The price currency's symbol.
    currency: str
    candles: Sequence[CandleJson]

    @property
    def description(self) -> str:
        """Return the picture's text alternative."""
        opened, closed = (format_price(price) for price in (self.candles[0]["o"], self.candles[-1]["c"]))
        low, high = (format_price(price) for price in self._range)
        return f"Price in {self.currency}, {self.title}: from {opened} to {closed}, lowest {low}, highest {high}"

    @property
    def start(self) -> str:
        """Return the first candle's time, which may be long after the range begins."""
        return local_time(self.candles[0]["t"])

    @property
    def width(self) -> int:
        """Return the picture's width: one per candle, with a minimum so that a few candles don't fill the page."""
        return max(len(self.candles), _MIN_WIDTH)

    @property
    def shapes(self) -> list[dict[str, Any]]:
        """Return each candle's wick and body, in a picture `width` wide and 100 high."""
        return [self._shape(index, candle) for index, candle in enumerate(self.candles)]

    @property
    def rows(self) -> list[list[str]]:
        """Return the table's cells, newest first: time, open, high, low, close, trades."""
        return [
            [
                local_time(candle["t"]),
                *(format_price(price) for price in (candle["o"], candle["h"], candle["l"], candle["c"])),
                f"{candle['trades']:,}",
            ]
            for candle in reversed(self.candles)
        ]

    @property
    def _range(self) -> tuple[float, float]:
        return min(candle["l"] for candle in self.candles), max(candle["h"] for candle in self.candles)

    def _shape(self, index: int, candle: CandleJson) -> dict[str, Any]:
        top, upper, lower, bottom = (
            self._depth(price)
            for price in (
                candle["h"],
                max(candle["o"], candle["c"]),
                min(candle["o"], candle["c"]),
                candle["l"],
            )
        )
        return {
            "place": index,
            "label": f"{local_time(candle['t'])}: {format_price(candle['c'])} {self.currency}",
            "top": f"{top:.2f}",
            "wick": f"{bottom - top:.2f}",
            "upper": f"{upper:.2f}",
            # A candle without a price change remains visible as a line.
            "body": f"{max(lower - upper, 1):.2f}",
            "fell": candle["c"] < candle["o"],
        }

    def _depth(self, price: float) -> float:
        """Return a price's distance from the upper edge."""
        low, high = self._range
        return _HEIGHT * (high - price) / (high - low) if high > low else _HEIGHT / 2


def read_price_charts(token_id: int, *, quote: str, in_usd: bool, now: datetime) -> tuple[PriceChart, ...]:
    """Return a token's charts that have candles. Prices are in USD if `in_usd` and known, else in its `quote`.

    One query for each chart, and one more if no candle has a USD price.
    """
    charts = []
    for title, name, seconds in _CHARTS:
        candle_range = CandleRange(
            interval=INTERVALS[name],
            start=int((now - timedelta(seconds=seconds)).timestamp()),
            end=int(now.timestamp()),
            limit=seconds // INTERVALS[name].seconds,
        )
        candles = fetch_candles(token_id, candle_range, in_usd=True, fill=True) if in_usd else []
        currency = "USD" if candles else quote
        candles = candles or fetch_candles(token_id, candle_range, in_usd=False, fill=True)
        if candles:
            charts.append(PriceChart(title=title, currency=currency, candles=candles))
    return tuple(charts)


def format_price(price: float) -> str:
    """Return a price with 6 significant digits."""
    return f"{price:,.6g}"
