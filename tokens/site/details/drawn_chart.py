"""Chart on a token's page, by the URL's parameters: candles up to now as shapes, texts and a table."""

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
from tokens.market.trading.responses import CandleJson
from tokens.models import Token
from tokens.site.charts import ChartGeometry, PricedBar, draw_chart, is_drawable

BARS = 120
_TABLE_ROWS = 30
# Label height in percent of the chart's height in embedded frames, where it is lowest.
_LABEL_HEIGHT = 12
UNITS, CURRENCIES = ("price", "cap"), ("usd", "quote")


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
    """Price axis line with its text."""

    y: float
    text: str


class LabeledMark(NamedTuple):
    """Time axis label."""

    x: float
    text: str


class BarRow(NamedTuple):
    """Row in the bar table, in words."""

    time: datetime
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
    # Shapes, each with its trade count and its text.
    bars: Sequence[tuple[Any, int, str]] = ()
    ticks: Sequence[LabeledTick] = ()
    marks: Sequence[LabeledMark] = ()
    current: str = ""
    rows: Sequence[BarRow] = ()


def choose_chart(token: Token, parameters: Mapping[str, str], *, bars: int = BARS) -> ChartChoice:
    """Return the chart that a page's URL selects, by default since the launch. Raises PageInputError.

    A token without a known market cap has a price chart.
    """
    unit = parse_choice(parameters, "unit", UNITS)
    # Candles have USD prices if each of their trades has one.
    has_usd = token.market.price_usd is not None
    return ChartChoice(
        interval=parse_choice(parameters, "interval", INTERVALS) or _default_interval(token, bars),
        unit=unit if unit and _has_market_cap(token) else "price",
        currency=parse_choice(parameters, "currency", CURRENCIES) or ("usd" if has_usd else "quote"),
    )


def read_chart(token: Token, choice: ChartChoice, *, bars: int = BARS) -> DrawnChart:
    """Return the chart with the newest bars up to the current one, also those without trades. One query."""
    interval = INTERVALS[choice.interval]
    length = timedelta(seconds=interval.seconds)
    candle_range = CandleRange(interval=interval, start=0, end=NO_END, limit=bars)
    candles = fetch_candles(token.pk, candle_range, in_usd=choice.currency == "usd", fill=True)
    factor = _whole_supply(token) if choice.unit == "cap" else 1.0
    priced = [
        (candle, _priced(candle, token, choice, factor, slot=(candle["t"] - candles[0]["t"]) // length))
        for candle in candles
    ]
    drawable = [(candle, bar) for candle, bar in priced if is_drawable(bar)]
    empty = DrawnChart(choice=choice, links=_links(token, choice))
    return _draw(empty, drawable) if drawable else empty


def _default_interval(token: Token, bars: int) -> str:
    """Return the shortest interval with which so many bars reach back to the launch."""
    age = (timezone.now() - token.deployed_at).total_seconds()
    return next((name for name, interval in INTERVALS.items() if age < interval.seconds * bars), "1d")


def _has_market_cap(token: Token) -> bool:
    """Return whether supply times price is a market cap: false where liquidity does not support it."""
    return bool(token.supply) and (token.market.price_usd is None or token.market.market_cap is not None)


def _whole_supply(token: Token) -> float:
    return 0.0 if token.supply is None else float(token.supply) / 10.0**token.decimals


def _priced(candle: CandleJson, token: Token, choice: ChartChoice, factor: float, *, slot: int) -> PricedBar:
    opened, high, low, closed = (price * factor for price in (candle["o"], candle["h"], candle["l"], candle["c"]))
    if choice.currency == "usd":
        return PricedBar(slot, opened, high, low, closed, candle["volumeUsd"])
    decimals = quote_decimals(token)
    volume = None if decimals is None else int(candle["volumeQuote"]) / 10**decimals
    return PricedBar(slot, opened, high, low, closed, volume)


def quote_decimals(token: Token) -> int | None:
    """Return the paired token's decimals; None if it reports none. Requires the launch's facts."""
    launch = getattr(token, "launch", None)
    decimals = ((launch and launch.facts.get("pool")) or {}).get("pair_decimals")
    return None if decimals is None else int(decimals)


def _draw(chart: DrawnChart, drawable: Sequence[tuple[CandleJson, PricedBar]]) -> DrawnChart:
    choice, begin = chart.choice, drawable[0][0]["t"]
    length = timedelta(seconds=INTERVALS[choice.interval].seconds)
    # The current interval is the last slot: the right edge is now.
    slots = drawable[-1][1].slot + 1 + max((timezone.now() - drawable[-1][0]["t"]) // length, 0)
    geometry = draw_chart([bar for _, bar in drawable], slots=slots)
    traded = [(candle, bar) for candle, bar in drawable if candle["trades"]]
    span = slots * length
    labels = "%H:%M" if span < timedelta(days=1) else "%m-%d %H:%M" if span <= timedelta(days=5) else "%Y-%m-%d"
    return replace(
        chart,
        geometry=geometry,
        bars=[
            (shape, candle["trades"], _title(_row(candle, bar, choice, _spoken)))
            for shape, (candle, bar) in zip(geometry.bars, drawable, strict=True)
        ],
        ticks=_labeled(geometry, choice),
        marks=[LabeledMark(mark.x, f"{begin + mark.slot * length:{labels}}") for mark in geometry.marks],
        current=_drawn(drawable[-1][1].closed, choice),
        rows=[_row(candle, bar, choice, _html) for candle, bar in traded[: -_TABLE_ROWS - 1 : -1]],
        summary=_summary(drawable, len(traded), choice),
    )


def _html(value: float, choice: ChartChoice) -> str:
    return usd(value) if choice.currency == "usd" else compact(value)


def _drawn(value: float, choice: ChartChoice) -> str:
    return usd_text(value) if choice.currency == "usd" else compact_text(value)


def _spoken(value: float, choice: ChartChoice) -> str:
    """Return a text for titles and text alternatives."""
    write = usd_text if choice.currency == "usd" else compact_text
    return write(value, counts_zeros=False)


def _labeled(geometry: ChartGeometry, choice: ChartChoice) -> list[LabeledTick]:
    """Return the ticks with as many digits as make their texts differ, without ticks near the current price."""
    ticks = [tick for tick in geometry.ticks if abs(tick.y - geometry.current_y) >= _LABEL_HEIGHT]
    texts: list[str] = []
    for digits in (3, 5, 7, 9, 12):
        numbers = [compact_text(tick.value, digits) for tick in ticks]
        texts = [in_usd(number) for number in numbers] if choice.currency == "usd" else numbers
        if len(set(texts)) == len(texts):
            break
    return [LabeledTick(tick.y, text) for tick, text in zip(ticks, texts, strict=True)]


def _row(candle: CandleJson, bar: PricedBar, choice: ChartChoice, write: Callable[[float, ChartChoice], str]) -> BarRow:
    volume = "" if bar.volume is None else write(bar.volume, choice)
    opened, high, low, closed = (write(price, choice) for price in (bar.opened, bar.high, bar.low, bar.closed))
    return BarRow(candle["t"], opened, high, low, closed, volume, candle["trades"])


def _title(row: BarRow) -> str:
    text = gettext(
        "%(time)s: open %(opened)s, high %(high)s, low %(low)s, close %(closed)s, volume %(volume)s, trades: %(trades)s"
    )
    return text % (row._asdict() | {"time": moment_text(row.time)})


def _summary(drawable: Sequence[tuple[CandleJson, PricedBar]], traded: int, choice: ChartChoice) -> str:
    """Return the chart's text alternative, with the number of bars that have trades."""
    bars = [bar for _, bar in drawable]
    values = {
        "number": traded,
        "interval": interval_name(choice.interval),
        "start": moment_text(drawable[0][0]["t"]),
        "first": _spoken(bars[0].opened, choice),
        "last": _spoken(bars[-1].closed, choice),
        "low": _spoken(min(bar.low for bar in bars), choice),
        "high": _spoken(max(bar.high for bar in bars), choice),
    }
    if choice.unit == "cap":
        text = ngettext(
            "Market cap in %(number)s bar of %(interval)s since %(start)s: from %(first)s to %(last)s, "
            "lowest %(low)s, highest %(high)s",
            "Market cap in %(number)s bars of %(interval)s since %(start)s: from %(first)s to %(last)s, "
            "lowest %(low)s, highest %(high)s",
            traded,
        )
    else:
        text = ngettext(
            "Price in %(number)s bar of %(interval)s since %(start)s: from %(first)s to %(last)s, "
            "lowest %(low)s, highest %(high)s",
            "Price in %(number)s bars of %(interval)s since %(start)s: from %(first)s to %(last)s, "
            "lowest %(low)s, highest %(high)s",
            traded,
        )
    return text % values


def interval_name(interval: str) -> str:
    """Return an interval's name in words."""
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
    if not _has_market_cap(token):
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
