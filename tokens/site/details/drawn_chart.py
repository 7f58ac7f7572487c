"""Chart of a token's page by the parameters of its URL: candles as shapes, texts and a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.utils import timezone
from django.utils.translation import gettext, ngettext

from config.site.formats import (
    compact,
    compact_text,
    in_usd,
    moment_text,
    plain,
    short_duration,
    usd,
    usd_text,
)
from config.site.page_input import parse_choice
from tokens.market.trading.candle_pages import INTERVALS, NO_END, CandleRange, fetch_candles
from tokens.models import Token
from tokens.site.charts import PAGE_FRAME, ChartFrame, ChartGeometry, PricedBar, draw_chart, is_drawable

BARS = 120
_TABLE_ROWS = 30
# Units of the view box, of the largest text in site.css: on the smallest screens.
_LABEL_HEIGHT = 26
UNITS, CURRENCIES = ("price", "cap"), ("usd", "quote")
# Age of a token from which on its chart has another interval by default.
_DEFAULTS = (
    (timedelta(hours=2), "1m"),
    (timedelta(days=1), "5m"),
    (timedelta(days=14), "1h"),
    (timedelta(days=120), "4h"),
)


@dataclass(frozen=True, kw_only=True)
class ChartChoice:
    """The chart's parameters."""

    interval: str
    unit: str
    currency: str


class ChartLink(NamedTuple):
    """Link to the chart with one parameter changed."""

    id: str
    text: str
    query: str
    is_current: bool


class LabeledTick(NamedTuple):
    """Line of the price axis with its text."""

    y: float
    text: str


class LabeledMark(NamedTuple):
    """Label of the time axis."""

    x: float
    text: str


class BarRow(NamedTuple):
    """Row of the table of bars, in words."""

    at: datetime
    opened: str
    high: str
    low: str
    closed: str
    volume: str
    trades: int


@dataclass(frozen=True, kw_only=True)
class DrawnChart:
    """A chart as templates need it; without bars, `geometry` is None."""

    choice: ChartChoice
    links: Mapping[str, Sequence[ChartLink]]
    summary: str = ""
    geometry: ChartGeometry | None = None
    # Shapes with their texts.
    bars: Sequence[tuple[Any, str]] = ()
    ticks: Sequence[LabeledTick] = ()
    marks: Sequence[LabeledMark] = ()
    current: str = ""
    rows: Sequence[BarRow] = ()


def choose_chart(token: Token, parameters: Mapping[str, str]) -> ChartChoice:
    """Return the chart of a page's URL. Raises PageInputError.

    A token without a known supply has the chart of its price.
    """
    unit = parse_choice(parameters, "unit", UNITS)
    # Candles have prices in USD where each of their trades has one.
    has_usd = token.market.price_usd is not None
    return ChartChoice(
        interval=parse_choice(parameters, "interval", INTERVALS) or _default_interval(token),
        unit=unit if unit and token.supply else "price",
        currency=parse_choice(parameters, "currency", CURRENCIES) or ("usd" if has_usd else "quote"),
    )


def read_chart(token: Token, choice: ChartChoice, *, bars: int = BARS, frame: ChartFrame = PAGE_FRAME) -> DrawnChart:
    """Return the chart of the newest bars with trades. One query."""
    wanted = CandleRange(interval=INTERVALS[choice.interval], start=0, end=NO_END, limit=bars)
    candles = fetch_candles(token.pk, wanted, in_usd=choice.currency == "usd", fill=False)
    factor = _whole_supply(token) if choice.unit == "cap" else 1.0
    drawable = [(candle, bar) for candle in candles if is_drawable(bar := _priced(candle, token, choice, factor))]
    empty = DrawnChart(choice=choice, links=_links(token, choice))
    return _draw(empty, drawable, frame) if drawable else empty


def _default_interval(token: Token) -> str:
    age = timezone.now() - token.deployed_at
    return next((name for least, name in _DEFAULTS if age < least), "1d")


def _whole_supply(token: Token) -> float:
    return 0.0 if token.supply is None else float(token.supply) / 10.0**token.decimals


def _priced(candle: dict[str, Any], token: Token, choice: ChartChoice, factor: float) -> PricedBar:
    opened, high, low, closed = (candle[name] * factor for name in "ohlc")
    if choice.currency == "usd":
        return PricedBar(opened, high, low, closed, candle["volumeUsd"])
    decimals = quote_decimals(token)
    return PricedBar(opened, high, low, closed, None if decimals is None else int(candle["volumeQuote"]) / 10**decimals)


def quote_decimals(token: Token) -> int | None:
    """Return the decimals of the paired token; None where it reports none. Requires the launch's facts."""
    launch = getattr(token, "launch", None)
    decimals = ((launch and launch.facts.get("pool")) or {}).get("pair_decimals")
    return None if decimals is None else int(decimals)


def _draw(chart: DrawnChart, drawable: Sequence[tuple[dict[str, Any], PricedBar]], frame: ChartFrame) -> DrawnChart:
    choice = chart.choice
    geometry = draw_chart([bar for _, bar in drawable], frame=frame)
    rows = [_row(candle, bar, choice, _spoken) for candle, bar in drawable]
    days = {row.at.date() for row in rows}
    labels = "%H:%M" if len(days) == 1 else "%m-%d %H:%M" if len(days) <= 5 else "%Y-%m-%d"
    return replace(
        chart,
        geometry=geometry,
        bars=[(shape, _title(row)) for shape, row in zip(geometry.bars, rows, strict=True)],
        ticks=_labeled(geometry, choice),
        marks=[LabeledMark(mark.x, f"{rows[mark.index].at:{labels}}") for mark in geometry.marks],
        current=_drawn(drawable[-1][1].closed, choice),
        rows=[_row(candle, bar, choice, _html) for candle, bar in drawable[: -_TABLE_ROWS - 1 : -1]],
        summary=_summary(rows, [bar for _, bar in drawable], choice),
    )


def _html(value: float, choice: ChartChoice) -> str:
    return usd(value) if choice.currency == "usd" else compact(value)


def _drawn(value: float, choice: ChartChoice) -> str:
    return usd_text(value) if choice.currency == "usd" else compact_text(value)


def _spoken(value: float, choice: ChartChoice) -> str:
    """Return a text for titles and alternatives of pictures."""
    write = usd_text if choice.currency == "usd" else compact_text
    return write(value, counts_zeros=False)


def _labeled(geometry: ChartGeometry, choice: ChartChoice) -> list[LabeledTick]:
    """Return the ticks with texts of as many digits as make them differ, without those below the current price's."""
    ticks = [tick for tick in geometry.ticks if abs(tick.y - geometry.current_y) >= _LABEL_HEIGHT]
    texts: list[str] = []
    for digits in (3, 5, 7, 9, 12):
        numbers = [compact_text(tick.value, digits) for tick in ticks]
        texts = [in_usd(number) for number in numbers] if choice.currency == "usd" else numbers
        if len(set(texts)) == len(texts):
            break
    return [LabeledTick(tick.y, text) for tick, text in zip(ticks, texts, strict=True)]


def _row(
    candle: dict[str, Any], bar: PricedBar, choice: ChartChoice, write: Callable[[float, ChartChoice], str]
) -> BarRow:
    volume = "" if bar.volume is None else write(bar.volume, choice)
    opened, high, low, closed = (write(price, choice) for price in (bar.opened, bar.high, bar.low, bar.closed))
    return BarRow(candle["t"], opened, high, low, closed, volume, candle["trades"])


def _title(row: BarRow) -> str:
    text = gettext(
        "%(time)s: open %(opened)s, high %(high)s, low %(low)s, close %(closed)s, volume %(volume)s, trades: %(trades)s"
    )
    return text % (row._asdict() | {"time": moment_text(row.at)})


def _summary(rows: Sequence[BarRow], bars: Sequence[PricedBar], choice: ChartChoice) -> str:
    """Return the text alternative of the picture."""
    values = {
        "number": len(rows),
        "interval": interval_name(choice.interval),
        "start": moment_text(rows[0].at),
        "first": rows[0].opened,
        "last": rows[-1].closed,
        "low": _spoken(min(bar.low for bar in bars), choice),
        "high": _spoken(max(bar.high for bar in bars), choice),
    }
    if choice.unit == "cap":
        text = ngettext(
            "Market cap in %(number)s bar of %(interval)s since %(start)s: from %(first)s to %(last)s, "
            "lowest %(low)s, highest %(high)s",
            "Market cap in %(number)s bars of %(interval)s since %(start)s: from %(first)s to %(last)s, "
            "lowest %(low)s, highest %(high)s",
            len(rows),
        )
    else:
        text = ngettext(
            "Price in %(number)s bar of %(interval)s since %(start)s: from %(first)s to %(last)s, "
            "lowest %(low)s, highest %(high)s",
            "Price in %(number)s bars of %(interval)s since %(start)s: from %(first)s to %(last)s, "
            "lowest %(low)s, highest %(high)s",
            len(rows),
        )
    return text % values


def interval_name(interval: str) -> str:
    """Return the name of an interval in words."""
    return {
        "1m": gettext("1 minute"),
        "5m": gettext("5 minutes"),
        "15m": gettext("15 minutes"),
        "1h": gettext("1 hour"),
        "4h": gettext("4 hours"),
        "1d": gettext("1 day"),
    }[interval]


def _links(token: Token, choice: ChartChoice) -> dict[str, list[ChartLink]]:
    """Return the links to all charts that differ in one parameter, by parameter."""
    texts = {
        "interval": {name: short_duration(interval.seconds) for name, interval in INTERVALS.items()},
        "unit": {"price": gettext("Price"), "cap": gettext("Market cap")},
        "currency": {"usd": "USD", "quote": plain(token.pair, 12) or gettext("paired token")},
    }
    if not token.supply:
        # The market cap is unknown.
        del texts["unit"]["cap"]
    return {
        name: [
            ChartLink(f"{name}-{value}", text, _query(replace(choice, **{name: value})), getattr(choice, name) == value)
            for value, text in values.items()
        ]
        for name, values in texts.items()
    }


def _query(choice: ChartChoice) -> str:
    return urlencode({"interval": choice.interval, "unit": choice.unit, "currency": choice.currency})
