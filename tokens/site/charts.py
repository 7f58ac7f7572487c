"""Candlestick chart geometry with volume bars, in percent of the chart's width and height. Pure."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_TOP = 3.0
# Part of the height for volume bars, below the prices, and the gap between both.
_VOLUME_PART, _GAP = 0.18, 3.0
# Largest body width, for charts with few slots.
_WIDEST_BODY = 2.5
_BODY_PART = 0.7
_TICKS, _MARKS = 4, 5
# A candle without a change is a visible line, as is a volume that is a millionth of the largest one.
LEAST_HEIGHT = 0.35


class PricedBar(NamedTuple):
    """A period's prices and volume; volume None is unknown. `slot` is its index among all periods in the chart."""

    slot: int
    opened: float
    high: float
    low: float
    closed: float
    volume: float | None


@dataclass(frozen=True, slots=True)
class DrawnBar:
    """A bar's shapes: the slot it may fill, its wick, its body and its volume; `y` grows downwards."""

    slot_x: float
    slot_width: float
    x: float
    width: float
    wick_x: float
    wick_top: float
    wick_bottom: float
    body_y: float
    body_height: float
    volume_y: float
    volume_height: float
    rises: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """Price axis line."""

    y: float
    value: float


@dataclass(frozen=True, slots=True)
class TimeMark:
    """Time axis label in the middle of a slot."""

    x: float
    slot: int


@dataclass(frozen=True, slots=True)
class ChartGeometry:
    """A chart's shapes, all from 0 to 100 in both directions."""

    bars: tuple[DrawnBar, ...]
    ticks: tuple[Tick, ...]
    marks: tuple[TimeMark, ...]
    current_y: float


def is_drawable(bar: PricedBar) -> bool:
    """Return whether all numbers in a bar are finite and not negative."""
    return all(math.isfinite(number) and number >= 0 for number in bar if number is not None)


def draw_chart(bars: Sequence[PricedBar], *, slots: int) -> ChartGeometry:
    """Return the geometry for drawable bars, at least one, oldest first. The current price is the last close.

    All periods, also those without a bar, have slots, which fill the width.
    """
    low, high = min(bar.low for bar in bars), max(bar.high for bar in bars)
    volumes_height = (100 - _TOP) * _VOLUME_PART
    price_bottom = 100 - volumes_height - _GAP
    most = max((bar.volume or 0 for bar in bars), default=0)
    width = 100 / slots

    def depth(price: float) -> float:
        return _TOP + (price_bottom - _TOP) * (1 - _part(price, low, high))

    drawn = tuple(
        _draw_bar(bar, slot_width=width, depth=depth, volume_height=volumes_height * _part(bar.volume or 0, 0, most))
        for bar in bars
    )
    return ChartGeometry(
        bars=drawn,
        ticks=tuple(Tick(_rounded(depth(value)), value) for value in price_ticks(low, high)),
        marks=tuple(TimeMark(_rounded((slot + 0.5) * width), slot) for slot in _marked_slots(slots)),
        current_y=_rounded(depth(bars[-1].closed)),
    )


def price_ticks(low: float, high: float) -> list[float]:
    """Return round values between two prices, at most about six; the price itself if both are equal."""
    span = high - low
    if span <= 0:
        return [low]
    size = 10.0 ** math.floor(math.log10(span / _TICKS)) if span / _TICKS > 0 else 0.0
    if size == 0 or not math.isfinite(high / size):
        return [low, high]
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor * _TICKS >= span * 0.6)
    first = math.ceil(low / step)
    values = (step * (first + number) for number in range(2 * _TICKS))
    return [value for value in values if low <= value <= high] or [low, high]


def _draw_bar(bar: PricedBar, *, slot_width: float, depth: Callable[[float], float], volume_height: float) -> DrawnBar:
    top, upper, lower, bottom = (
        depth(price) for price in (bar.high, max(bar.opened, bar.closed), min(bar.opened, bar.closed), bar.low)
    )
    x, width = bar.slot * slot_width, min(slot_width * _BODY_PART, _WIDEST_BODY)
    volume_height = max(volume_height, LEAST_HEIGHT) if bar.volume else 0
    return DrawnBar(
        slot_x=_rounded(x),
        slot_width=_rounded(slot_width),
        x=_rounded(x + (slot_width - width) / 2),
        width=_rounded(width),
        wick_x=_rounded(x + slot_width / 2),
        wick_top=_rounded(top),
        wick_bottom=_rounded(bottom),
        body_y=_rounded(upper),
        body_height=_rounded(max(lower - upper, LEAST_HEIGHT)),
        volume_y=_rounded(100 - volume_height),
        volume_height=_rounded(volume_height),
        rises=bar.closed >= bar.opened,
    )


def _part(value: float, low: float, high: float) -> float:
    """Return where a value is between two others, from 0 to 1; the middle if both are equal."""
    span = high - low
    return min(max((value - low) / span, 0), 1) if span > 0 else 0.5


def _marked_slots(slots: int) -> list[int]:
    """Return the slots that have a time label, evenly spaced."""
    step = math.ceil(slots / _MARKS)
    return list(range(step // 2, slots, step))


def _rounded(number: float) -> float:
    return round(number, 2)
