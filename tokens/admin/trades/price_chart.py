"""Price chart of a token: candles as a picture without scripts, and as a table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from config.operators.local_times import local_time
from tokens.market.trading.candle_pages import INTERVALS, CandleRange, fetch_candles
from tokens.models.candle import DAY

# Title, interval and seconds of each chart.
_CHARTS = (("the last 24 hours, by 15 minutes", "15m", DAY), ("the last 7 days, by hour", "1h", 7 * DAY))
# The height of the picture, and the least width, in candles.
_HEIGHT, _MIN_WIDTH = 100, 24


@dataclass(frozen=True, kw_only=True)
class PriceChart:
    """Candles of a range of time, oldest first, as the API has them."""

    title: str
    # Symbol of the currency of prices.
    currency: str
    candles: Sequence[dict[str, Any]]

    @property
    def description(self) -> str:
        """Return the text alternative of the picture."""
        opened, closed = (format_price(price) for price in (self.candles[0]["o"], self.candles[-1]["c"]))
        low, high = (format_price(price) for price in self._range)
        return f"Price in {self.currency}, {self.title}: from {opened} to {closed}, lowest {low}, highest {high}"

    @property
    def start(self) -> str:
        """Return the time of the first candle, which may be far later than the beginning of the range."""
        return local_time(self.candles[0]["t"])

    @property
    def width(self) -> int:
        """Return the width of the picture: one per candle, but few are not drawn as broad as the page."""
        return max(len(self.candles), _MIN_WIDTH)

    @property
    def shapes(self) -> list[dict[str, Any]]:
        """Return the wick and the body of each candle in a picture `width` wide and 100 high."""
        return [self._shape(place, candle) for place, candle in enumerate(self.candles)]

    @property
    def rows(self) -> list[list[str]]:
        """Return the cells of the table, newest first: time, open, high, low, close, trades."""
        return [
            [local_time(candle["t"]), *(format_price(candle[name]) for name in "ohlc"), f"{candle['trades']:,}"]
            for candle in reversed(self.candles)
        ]

    @property
    def _range(self) -> tuple[float, float]:
        return min(candle["l"] for candle in self.candles), max(candle["h"] for candle in self.candles)

    def _shape(self, place: int, candle: dict[str, Any]) -> dict[str, Any]:
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
            "place": place,
            "label": f"{local_time(candle['t'])}: {format_price(candle['c'])} {self.currency}",
            "top": f"{top:.2f}",
            "wick": f"{bottom - top:.2f}",
            "upper": f"{upper:.2f}",
            # A candle without a change is a visible line.
            "body": f"{max(lower - upper, 1):.2f}",
            "fell": candle["c"] < candle["o"],
        }

    def _depth(self, price: float) -> float:
        """Return the distance of a price from the upper edge."""
        low, high = self._range
        return _HEIGHT * (high - price) / (high - low) if high > low else _HEIGHT / 2


def read_price_charts(token_id: int, *, quote: str, in_usd: bool, now: datetime) -> tuple[PriceChart, ...]:
    """Return the charts of a token that have candles; prices in its `quote`, or if wanted and known in USD.

    One query for each chart, and one more where no candle has a price in USD.
    """
    charts = []
    for title, name, seconds in _CHARTS:
        wanted = CandleRange(
            interval=INTERVALS[name],
            start=int((now - timedelta(seconds=seconds)).timestamp()),
            end=int(now.timestamp()),
            limit=seconds // INTERVALS[name].seconds,
        )
        candles = fetch_candles(token_id, wanted, in_usd=True, fill=True) if in_usd else []
        currency = "USD" if candles else quote
        candles = candles or fetch_candles(token_id, wanted, in_usd=False, fill=True)
        if candles:
            charts.append(PriceChart(title=title, currency=currency, candles=candles))
    return tuple(charts)


def format_price(price: float) -> str:
    """Return a price to 6 significant digits."""
    return f"{price:,.6g}"
