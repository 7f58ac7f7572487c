"""Settings of the interpreter that apply while blocks are read, and only then."""

import gc
import sys

import pytest

from tokens.following.prefetch import tuned_for_reading


def test_the_interpreter_is_tuned_while_blocks_are_read_and_reset_even_after_an_error():
    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    with pytest.raises(ValueError), tuned_for_reading():
        assert gc.get_threshold()[0] > 10 * thresholds[0]
        assert gc.get_freeze_count() > 0
        assert sys.getswitchinterval() < interval / 5
        raise ValueError
    assert (gc.get_threshold(), gc.get_freeze_count(), sys.getswitchinterval()) == (thresholds, 0, interval)
