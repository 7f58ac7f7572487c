"""Tests of tokens/catalogue/viewed_tokens.py: a hint that costs requests next to nothing, and that may be lost."""

import threading

import pytest

from config.redis.connection import redis_client
from tokens.catalogue import viewed_tokens


@pytest.fixture(autouse=True)
def nothing_noted():
    redis_client().delete(viewed_tokens.VIEWED_KEY)
    viewed_tokens._buffered.clear()
    viewed_tokens._next_flush = 0.0
    yield
    viewed_tokens._buffered.clear()
    viewed_tokens._next_flush = 0.0


def let_time_pass():
    viewed_tokens._next_flush = 0.0


def known():
    return {int(member) for member in redis_client().zrange(viewed_tokens.VIEWED_KEY, 0, -1)}


def calls_to_redis():
    return int(redis_client().info("commandstats").get("cmdstat_zadd", {"calls": 0})["calls"])


def test_without_redis_nothing_happens(settings, unused_port):
    settings.REDIS_URL = f"redis://127.0.0.1:{unused_port}/0"
    for token_id in range(1, 100):
        let_time_pass()
        viewed_tokens.record_viewed([token_id])


def test_nothing_viewed_is_nothing_noted():
    viewed_tokens.record_viewed([])
    assert known() == set()


def test_what_is_viewed_within_two_seconds_goes_out_together():
    before = calls_to_redis()
    viewed_tokens.record_viewed([1])
    assert known() == {1}
    threads = [threading.Thread(target=viewed_tokens.record_viewed, args=([number, 7],)) for number in range(2, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert known() == {1}
    let_time_pass()
    viewed_tokens.record_viewed(iter([8]))
    assert known() == set(range(1, 9))
    assert calls_to_redis() == before + 2


def test_a_process_notes_no_more_than_it_can_keep():
    viewed_tokens.record_viewed([1])
    for start in range(0, 50_000, 100):
        viewed_tokens.record_viewed(range(start, start + 100))
    assert len(viewed_tokens._buffered) == 10_000


def test_hints_are_taken_once_the_last_viewed_first():
    for token_id in (1, 2, 3):
        let_time_pass()
        viewed_tokens.record_viewed([token_id])
    assert viewed_tokens.pop_viewed(2) == [3, 2]
    assert viewed_tokens.pop_viewed(2) == [1]
    assert viewed_tokens.pop_viewed(2) == []


def test_the_longest_ago_are_forgotten_where_they_are_too_many():
    redis_client().zadd(viewed_tokens.VIEWED_KEY, {f"{number}": float(number) for number in range(1, 100_001)})
    viewed_tokens.record_viewed([200_001, 200_002])
    assert redis_client().zcard(viewed_tokens.VIEWED_KEY) == 100_000
    assert known() >= {200_001, 200_002, 100_000} and not known() & {1, 2}
    redis_client().delete(viewed_tokens.VIEWED_KEY)
