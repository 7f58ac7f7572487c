"""Settings of the interpreter that apply while blocks are read, and only then."""

import gc
import sys

import pytest

from tokens.following.prefetch import tuned_for_reading


@pytest.fixture
def thresholds():
    before = gc.get_threshold()
    gc.set_threshold(900, 9, 9)
    yield gc.get_threshold()
    gc.set_threshold(*before)


def test_it_searches_seldom_and_not_among_what_was_there(thresholds):
    with tuned_for_reading():
        assert gc.get_threshold()[0] > 10 * thresholds[0]
        assert gc.get_freeze_count() > 0


def test_threads_take_turns_more_often():
    before = sys.getswitchinterval()
    with tuned_for_reading():
        assert sys.getswitchinterval() < before / 5
    assert sys.getswitchinterval() == before


def test_it_goes_back_to_what_was_set_even_after_an_error(thresholds):
    with pytest.raises(ValueError), tuned_for_reading():
        raise ValueError
    assert gc.get_threshold() == thresholds
    assert gc.get_freeze_count() == 0
