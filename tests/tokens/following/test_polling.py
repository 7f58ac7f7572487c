"""The polling interval of nodes for the next block."""

import pytest

from tokens.chains.types import BlockHeader
from tokens.following.new_heads import PollSchedule


def header(number, at):
    return BlockHeader(
        number=number, hash=f"0x{number:064x}", parent_hash=f"0x{number - 1:064x}", time=at, logs_bloom=0
    )


def seen(*blocks, longest=60.0):
    """Return blocks as (number, block time) that were seen at second 0."""
    schedule = PollSchedule(longest=longest)
    for number, at in blocks:
        schedule.record(header(number, at), now=0.0)
    return schedule


def test_it_polls_soon_without_a_block():
    assert PollSchedule(longest=2.0).next_delay(now=0.0) <= 0.1


def test_it_polls_a_little_before_the_next_block_is_due():
    schedule = seen((10, 1_000), (20, 1_120))
    assert schedule.interval() == 12
    assert schedule.next_delay(now=0.0) == pytest.approx(11.4)
    assert schedule.next_delay(now=11.0) == pytest.approx(0.4)


def test_it_polls_often_when_the_block_is_due():
    assert seen((10, 1_000), (20, 1_120)).next_delay(now=11.4) == pytest.approx(0.05)


def test_it_polls_less_often_the_longer_the_block_is_overdue():
    assert seen((10, 1_000), (20, 1_120)).next_delay(now=111.4) == pytest.approx(25)


def test_it_never_pauses_for_longer_than_the_setting_allows():
    schedule = seen((10, 1_000), (20, 1_120), longest=2.0)
    assert (schedule.next_delay(now=0.0), schedule.next_delay(now=3_600.0)) == (2.0, 2.0)


def test_several_blocks_in_one_second_are_polled_often():
    schedule = seen((10, 1_000), (14, 1_001))
    assert schedule.interval() == 0.25
    assert schedule.next_delay(now=0.0) < 0.25


def test_it_lets_another_branch_not_change_the_pace():
    schedule = seen((10, 1_000), (20, 1_120))
    schedule.record(header(19, 1_000_000), now=5.0)
    assert (schedule.interval(), schedule.next_delay(now=0.0)) == (12, pytest.approx(11.4))


def test_time_that_goes_backwards_means_no_pause():
    assert seen((10, 1_000), (11, 900)).interval() == 0
