"""Chart geometry: any prices and volumes stay inside it, and it ends with its last slot."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokens.site.charts import LEAST_HEIGHT, PricedBar, draw_chart, is_drawable, price_ticks

NUMBERS = st.one_of(st.floats(min_value=0, allow_infinity=False, allow_nan=False), st.floats(1e-12, 1e12))


@st.composite
def bars(draw):
    low, first, second, high = sorted(draw(st.lists(NUMBERS, min_size=4, max_size=4)))
    opened, closed = (first, second) if draw(st.booleans()) else (second, first)
    return PricedBar(0, opened, high, low, closed, draw(st.none() | NUMBERS))


def in_slots(drawn):
    """Return the bars, each in the slot after the one before it."""
    return [bar._replace(slot=place) for place, bar in enumerate(drawn)]


def numbers_of(shape):
    return [value for value in (getattr(shape, name) for name in shape.__slots__) if isinstance(value, float)]


@given(drawn=st.lists(bars(), min_size=1, max_size=130), empty=st.integers(0, 50))
def test_any_bars_stay_inside_the_chart(drawn, empty):
    chart = draw_chart(in_slots(drawn), slots=len(drawn) + empty)
    assert len(chart.bars) == len(drawn)
    for bar in chart.bars:
        assert all(math.isfinite(number) and number >= 0 for number in numbers_of(bar))
        assert bar.slot_x + bar.slot_width <= 100.02
        assert bar.slot_x <= bar.x and bar.x + bar.width <= 100 and bar.wick_x <= 100
        # A body is inside its wick, but for a visible line's least height.
        assert bar.wick_top - 0.01 <= bar.body_y <= bar.wick_bottom + 0.01
        assert bar.body_y + bar.body_height <= bar.wick_bottom + LEAST_HEIGHT + 0.02
        assert bar.body_y + bar.body_height <= bar.volume_y + bar.volume_height + 0.01
        assert bar.volume_y + bar.volume_height == pytest.approx(100, abs=0.02)
    assert 0 <= chart.current_y <= 100
    assert chart.ticks and all(0 <= tick.y <= 100 for tick in chart.ticks)
    assert 1 <= len(chart.marks) <= 5 and all(0 < mark.x < 100 for mark in chart.marks)


@pytest.mark.parametrize("slots", [1, 4, 39, 120])
def test_the_slots_fill_the_width_up_to_the_last_one(slots):
    chart = draw_chart([PricedBar(slot, 1, 2, 1, 2, 1) for slot in range(slots)], slots=slots)
    assert chart.bars[0].slot_x == 0
    assert chart.bars[-1].slot_x + chart.bars[-1].slot_width == pytest.approx(100, abs=0.02)


def test_a_bar_is_as_far_from_the_end_as_the_periods_after_it_are_long():
    chart = draw_chart([PricedBar(0, 1, 2, 1, 2, 1), PricedBar(49, 1, 2, 1, 2, 1)], slots=100)
    assert [bar.slot_x for bar in chart.bars] == [0, 49]


@given(drawn=st.lists(bars(), min_size=2, max_size=40))
def test_a_higher_price_is_drawn_higher(drawn):
    chart = draw_chart(in_slots(drawn), slots=len(drawn))
    by_price = sorted(zip(drawn, chart.bars, strict=True), key=lambda pair: pair[0].high)
    tops = [shape.wick_top for _, shape in by_price]
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
    chart = draw_chart(in_slots([PricedBar(0, 2, 2, 2, 2, 5)] * 3), slots=3)
    (line,) = {(bar.body_y, bar.body_height) for bar in chart.bars}
    assert 30 < line[0] < 50 and line[1] == LEAST_HEIGHT


def test_one_bar_is_narrow_and_labeled():
    chart = draw_chart([PricedBar(0, 1, 3, 0.5, 2, None)], slots=1)
    (bar,) = chart.bars
    assert bar.width < 3 and bar.rises and bar.volume_height == 0
    assert [(mark.x, mark.slot) for mark in chart.marks] == [(50, 0)]


def test_the_largest_volume_has_the_whole_band_and_a_tiny_one_is_visible():
    chart = draw_chart(in_slots([PricedBar(0, 1, 1, 1, 1, volume) for volume in (1e-9, 1e12)]), slots=2)
    tiny, large = (bar.volume_height for bar in chart.bars)
    assert tiny == LEAST_HEIGHT and large == pytest.approx(97 * 0.18, abs=0.01)


@pytest.mark.parametrize("number", [math.inf, math.nan, -1.0])
def test_numbers_that_have_no_place_are_found(number):
    assert not is_drawable(PricedBar(0, 1, number, 1, 1, None))
    assert not is_drawable(PricedBar(0, 1, 1, 1, 1, number))
    assert is_drawable(PricedBar(0, 1, 1, 1, 1, None))
