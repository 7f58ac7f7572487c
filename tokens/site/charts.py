"""Geometry of a candlestick chart with volume bars, in the units of a fixed view box. Pure."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class ChartFrame(NamedTuple):
    """View box of a chart, and the part of it for bars; the rest has the labels of the axes."""

    width: float
    height: float
    right: float
    bottom: float


PAGE_FRAME = ChartFrame(width=640, height=360, right=488, bottom=332)
EMBED_FRAME = ChartFrame(width=640, height=240, right=488, bottom=212)
_TOP = 12
# Part of the height for bars that volumes have, below the prices, and the gap between both.
_VOLUME_PART, _GAP = 0.18, 10
# A chart of few bars has bars of this width at most.
_LEAST_SLOTS = 40
_BODY_PART = 0.7
_TICKS, _MARKS = 4, 5
# A candle without a change, and the volume of a trade beside one of a million, are visible lines.
_LEAST_HEIGHT = 1


class PricedBar(NamedTuple):
    """Prices and volume of a period with trades; volume None is unknown."""

    opened: float
    high: float
    low: float
    closed: float
    volume: float | None


@dataclass(frozen=True, slots=True)
class DrawnBar:
    """A bar's place: the slot it may fill, its wick, its body and its volume; `y` grows downwards."""

    slot_x: float
    slot_width: float
    x: float
    width: float
    wick_x: float
    wick_y: float
    wick_height: float
    body_y: float
    body_height: float
    volume_y: float
    volume_height: float
    rises: bool


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the price axis."""

    y: float
    value: float


@dataclass(frozen=True, slots=True)
class TimeMark:
    """A label of the time axis below a bar."""

    x: float
    index: int


@dataclass(frozen=True, slots=True)
class ChartGeometry:
    """A chart's shapes, all inside the view box of `frame`."""

    frame: ChartFrame
    bars: tuple[DrawnBar, ...]
    ticks: tuple[Tick, ...]
    marks: tuple[TimeMark, ...]
    current_y: float


def is_drawable(bar: PricedBar) -> bool:
    """Return whether all numbers of a bar are finite and not negative."""
    return all(math.isfinite(number) and number >= 0 for number in bar if number is not None)


def draw_chart(bars: Sequence[PricedBar], *, frame: ChartFrame = PAGE_FRAME) -> ChartGeometry:
    """Return the geometry of at least one drawable bar, oldest first; the current price is the last close."""
    low, high = min(bar.low for bar in bars), max(bar.high for bar in bars)
    volumes_height = (frame.bottom - _TOP) * _VOLUME_PART
    price_bottom = frame.bottom - volumes_height - _GAP
    most = max((bar.volume or 0 for bar in bars), default=0)
    slot = frame.right / max(len(bars), _LEAST_SLOTS)

    def depth(price: float) -> float:
        return _TOP + (price_bottom - _TOP) * (1 - _part(price, low, high))

    heights = [volumes_height * _part(bar.volume or 0, 0, most) for bar in bars]
    drawn = tuple(
        _draw_bar(bar, slot=(place * slot, slot), depth=depth, volume=(frame.bottom, height))
        for place, (bar, height) in enumerate(zip(bars, heights, strict=True))
    )
    return ChartGeometry(
        frame=frame,
        bars=drawn,
        ticks=tuple(Tick(_rounded(depth(value)), value) for value in price_ticks(low, high)),
        marks=tuple(TimeMark(_rounded((place + 0.5) * slot), place) for place in _mark_places(len(bars))),
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


def _draw_bar(
    bar: PricedBar, *, slot: tuple[float, float], depth: Callable[[float], float], volume: tuple[float, float]
) -> DrawnBar:
    top, upper, lower, bottom = (
        depth(price) for price in (bar.high, max(bar.opened, bar.closed), min(bar.opened, bar.closed), bar.low)
    )
    (x, slot_width), (floor, volume_height) = slot, volume
    width = slot_width * _BODY_PART
    volume_height = max(volume_height, _LEAST_HEIGHT) if bar.volume else 0
    return DrawnBar(
        slot_x=_rounded(x),
        slot_width=_rounded(slot_width),
        x=_rounded(x + (slot_width - width) / 2),
        width=_rounded(width),
        wick_x=_rounded(x + slot_width / 2 - 0.5),
        wick_y=_rounded(top),
        wick_height=_rounded(bottom - top),
        body_y=_rounded(upper),
        body_height=_rounded(max(lower - upper, _LEAST_HEIGHT)),
        volume_y=_rounded(floor - volume_height),
        volume_height=_rounded(volume_height),
        rises=bar.closed >= bar.opened,
    )


def _part(value: float, low: float, high: float) -> float:
    """Return where a value is between two others, from 0 to 1; the middle if both are equal."""
    span = high - low
    return min(max((value - low) / span, 0), 1) if span > 0 else 0.5


def _mark_places(count: int) -> list[int]:
    """Return the bars that have a label of time, evenly spaced."""
    step = max(1, math.ceil(max(count, _LEAST_SLOTS) / _MARKS))
    return list(range(step // 2, count, step)) or [0]


def _rounded(number: float) -> float:
    return round(number, 2)
