"""Tests of tokens/market/provider_rate_limit.py: the rate limit across threads and processes."""

import subprocess
import sys
import threading
import time

import pytest

from config.environment.variables import BASE_DIR
from config.http.errors import HTTPStatusError, NoResponseError, RateLimitedError
from config.redis.connection import redis_client
from tests.processes.waiting import wait_for
from tokens.market import provider_rate_limit

CALLS = 25
# Takes the turns of a process, and prints the time of the last one.
TURNS = f"""
import django, time
django.setup()
from tokens.market import provider_rate_limit
print("ready", flush=True)
input()
for _ in range({CALLS}):
    with provider_rate_limit.call_slot(timeout=30):
        last = time.time()
print(last)
"""


def next_turn_in():
    """Return the seconds until the next turn."""
    seconds, micro = redis_client().time()
    return int(redis_client().get(provider_rate_limit.NEXT_SLOT_KEY)) / 1000 - (seconds + micro / 1e6)


def take(seconds):
    with provider_rate_limit.call_slot(timeout=seconds):
        pass


def test_a_turn_that_is_too_far_away_is_refused_and_not_taken(market, settings):
    settings.MARKET_CALLS_PER_MINUTE = 1
    take(0)
    for _ in range(3):
        with pytest.raises(provider_rate_limit.NoCallSlotError) as refused:
            take(60)
        assert 60 < refused.value.retry_after <= 61.2
    assert next_turn_in() < 61.2


def test_no_caller_takes_a_turn_during_a_back_off(market):
    with pytest.raises(RateLimitedError), provider_rate_limit.call_slot(timeout=0):
        raise RateLimitedError(429, retry_after=60)
    assert 50 < provider_rate_limit.seconds_until_slot() <= 60
    with pytest.raises(provider_rate_limit.NoCallSlotError) as refused:
        take(30)
    assert 50 < refused.value.retry_after <= 60


def test_of_two_pauses_the_longer_one_holds(market):
    def fail(error):
        with pytest.raises(type(error)), provider_rate_limit.call_slot(timeout=1):
            raise error

    for errors in (
        [RateLimitedError(429, retry_after=90), NoResponseError("x")],
        [NoResponseError("x"), RateLimitedError(429, retry_after=90)],
    ):
        redis_client().delete(provider_rate_limit.CIRCUIT_BREAKER.key)
        # Both began before either failed.
        with pytest.raises(type(errors[1])), provider_rate_limit.call_slot(timeout=1):
            fail(errors[0])
            raise errors[1]
        assert 80 < redis_client().ttl(provider_rate_limit.CIRCUIT_BREAKER.key) <= 90


def test_a_refusal_of_one_call_pauses_nothing_and_one_of_the_key_does(market):
    for status, paused in [(400, False), (422, False), (403, True)]:
        with pytest.raises(HTTPStatusError), provider_rate_limit.call_slot(timeout=1):
            raise HTTPStatusError(status, None)
        assert (provider_rate_limit.seconds_until_slot() > 60) is paused


def test_a_waiting_caller_gets_the_next_turn_before_those_that_do_not_wait(market, settings):
    settings.MARKET_CALLS_PER_MINUTE = 30
    take(0)
    waiting = threading.Thread(target=take, args=(5.0,))
    waiting.start()
    # The turn is reserved ahead of time, so that the next one is two turns away.
    wait_for(lambda: next_turn_in() > 2.1)
    with pytest.raises(provider_rate_limit.NoCallSlotError):
        take(2.0)
    waiting.join()


def test_two_processes_together_stay_within_the_limit(market, settings, service_environment):
    settings.MARKET_CALLS_PER_MINUTE = 2_400
    settings.REDIS_URL = service_environment["REDIS_URL"]
    environment = service_environment | {"MARKET_CALLS_PER_MINUTE": "2400"}
    command = [sys.executable, "-c", TURNS]
    with subprocess.Popen(
        command, cwd=BASE_DIR, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "ready\n"
        started = time.time()
        other.stdin.write("\n")
        other.stdin.flush()
        for _ in range(CALLS):
            take(30)
        last = max(time.time(), float(other.stdout.readline()))
    # From the start to the last turn so many intervals have passed.
    assert last - started > (2 * CALLS - 1) * 0.025


def test_the_limit_leaves_room_for_calls_that_arrive_late(settings, market):
    settings.MARKET_CALLS_PER_MINUTE = 30
    take(0)
    started = time.monotonic()
    # The thirty-first call is a minute and a second later than the first.
    assert 30 * (next_turn_in() + time.monotonic() - started) > 60.5


# Callers that get half of the turns.


def take_of_half(*, timeout=0.0):
    """Take a turn without contention."""
    redis_client().delete(provider_rate_limit.NEXT_SLOT_KEY)
    with provider_rate_limit.call_slot(timeout=timeout, half_rate=True):
        pass


def count_of_half():
    """Return how many turns there are before the half is used up."""
    taken = 0
    while True:
        try:
            take_of_half()
        except provider_rate_limit.NoCallSlotError:
            return taken
        taken += 1


def test_a_caller_with_half_of_the_turns_waits_for_two_and_leaves_others_theirs(market, settings):
    settings.MARKET_CALLS_PER_MINUTE = 5
    take_of_half()
    for _ in range(3):
        with pytest.raises(provider_rate_limit.NoCallSlotError) as refused:
            take_of_half(timeout=60)
        # Two turns, and more than one, but for the ten seconds that were saved.
        assert not refused.value.circuit_open
        assert 12.24 - 10 < refused.value.retry_after <= 2 * 12.24 - 10
    take(0)


def test_the_half_saves_what_was_left_of_ten_seconds(market, settings):
    settings.MARKET_CALLS_PER_MINUTE = 14
    assert count_of_half() == 2


def test_a_turn_that_was_refused_is_none_of_the_half(market, settings):
    settings.MARKET_CALLS_PER_MINUTE = 14
    take(0)
    for _ in range(10):
        with (
            pytest.raises(provider_rate_limit.NoCallSlotError) as refused,
            provider_rate_limit.call_slot(timeout=0, half_rate=True),
        ):
            pass
        assert 0 < refused.value.retry_after <= 4.38
    assert count_of_half() == 2


def test_a_back_off_is_reported_as_one(market):
    redis_client().set(provider_rate_limit.CIRCUIT_BREAKER.key, 1, ex=60)
    for half_rate in (False, True):
        with (
            pytest.raises(provider_rate_limit.NoCallSlotError) as refused,
            provider_rate_limit.call_slot(timeout=0, half_rate=half_rate),
        ):
            pass
        assert refused.value.circuit_open
