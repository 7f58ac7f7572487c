"""Searches for garbage are held back while blocks are read, and only then."""

import gc

import pytest

from tokens.following.garbage import searched_seldom


@pytest.fixture
def thresholds():
    before = gc.get_threshold()
    gc.set_threshold(900, 9, 9)
    yield gc.get_threshold()
    gc.set_threshold(*before)


def test_it_searches_seldom_and_not_among_what_was_there(thresholds):
    with searched_seldom():
        assert gc.get_threshold()[0] > 10 * thresholds[0]
        assert gc.get_freeze_count() > 0


def test_it_goes_back_to_what_was_set_even_after_an_error(thresholds):
    with pytest.raises(ValueError), searched_seldom():
        raise ValueError
    assert gc.get_threshold() == thresholds
    assert gc.get_freeze_count() == 0
