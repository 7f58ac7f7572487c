"""Geometry of charts: any prices and volumes stay inside the view box."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokens.site.charts import EMBED_FRAME, PAGE_FRAME, PricedBar, draw_chart, is_drawable, price_ticks

NUMBERS = st.one_of(st.floats(min_value=0, allow_infinity=False, allow_nan=False), st.floats(1e-12, 1e12))


@st.composite
def bars(draw):
    low, first, second, high = sorted(draw(st.lists(NUMBERS, min_size=4, max_size=4)))
    opened, closed = (first, second) if draw(st.booleans()) else (second, first)
    return PricedBar(opened, high, low, closed, draw(st.none() | NUMBERS))


def numbers_of(shape):
    return [value for value in (getattr(shape, name) for name in shape.__slots__) if isinstance(value, float)]


@given(drawn=st.lists(bars(), min_size=1, max_size=130), frame=st.sampled_from([PAGE_FRAME, EMBED_FRAME]))
def test_any_bars_stay_inside_the_view_box(drawn, frame):
    chart = draw_chart(drawn, frame=frame)
    assert len(chart.bars) == len(drawn)
    for bar in chart.bars:
        assert all(math.isfinite(number) and number >= 0 for number in numbers_of(bar))
        assert bar.slot_x + bar.slot_width <= frame.right + 0.01
        assert bar.x + bar.width <= frame.right and bar.wick_x + 1 <= frame.right
        # A body is inside its wick, but for the least height of a visible line.
        assert bar.wick_y - 0.01 <= bar.body_y <= bar.wick_y + bar.wick_height + 0.01
        assert bar.body_y + bar.body_height <= bar.wick_y + bar.wick_height + 1.01
        assert bar.body_y + bar.body_height <= bar.volume_y + bar.volume_height + 0.01
        assert bar.volume_y + bar.volume_height == pytest.approx(frame.bottom, abs=0.01)
    assert 0 <= chart.current_y <= frame.bottom
    assert chart.ticks and all(0 <= tick.y <= frame.bottom for tick in chart.ticks)
    assert chart.marks and all(0 <= mark.x <= frame.right and mark.index < len(drawn) for mark in chart.marks)


@given(drawn=st.lists(bars(), min_size=2, max_size=40))
def test_a_higher_price_is_drawn_higher(drawn):
    chart = draw_chart(drawn)
    by_price = sorted(zip(drawn, chart.bars, strict=True), key=lambda pair: pair[0].high)
    tops = [shape.wick_y for _, shape in by_price]
    assert tops == sorted(tops, reverse=True)


@given(low=NUMBERS, high=NUMBERS)
def test_ticks_are_few_and_between_the_prices(low, high):
    low, high = sorted((low, high))
    ticks = price_ticks(low, high)
    assert 1 <= len(ticks) <= 8 and all(low <= tick <= high for tick in ticks)
    assert ticks == sorted(ticks)


def test_ticks_are_round():
    assert price_ticks(99, 1000) == [200, 400, 600, 800, 1000]
    assert price_ticks(3, 3) == [3]


def test_equal_prices_are_drawn_in_the_middle_and_visible():
    chart = draw_chart([PricedBar(2, 2, 2, 2, 5)] * 3)
    (line,) = {(bar.body_y, bar.body_height) for bar in chart.bars}
    assert 100 < line[0] < 200 and line[1] == 1


def test_one_bar_is_narrow_and_labeled():
    chart = draw_chart([PricedBar(1, 3, 0.5, 2, None)])
    (bar,) = chart.bars
    assert bar.width < 20 and bar.rises and bar.volume_height == 0
    assert [mark.index for mark in chart.marks] == [0]


def test_the_largest_volume_has_the_whole_band_and_a_tiny_one_is_visible():
    chart = draw_chart([PricedBar(1, 1, 1, 1, volume) for volume in (1e-9, 1e12)])
    tiny, large = (bar.volume_height for bar in chart.bars)
    assert tiny == 1 and large == pytest.approx((PAGE_FRAME.bottom - 12) * 0.18, abs=0.01)


@pytest.mark.parametrize("number", [math.inf, math.nan, -1.0])
def test_numbers_that_have_no_place_are_found(number):
    assert not is_drawable(PricedBar(1, number, 1, 1, None))
    assert not is_drawable(PricedBar(1, 1, 1, 1, number))
    assert is_drawable(PricedBar(1, 1, 1, 1, None))
