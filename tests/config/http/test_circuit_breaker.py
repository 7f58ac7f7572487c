"""config/http: states of a circuit breaker, and delays of a back-off."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from config.http.backoff import Backoff, requested_delay
from config.http.circuit_breaker import CircuitBreaker
from config.http.errors import NoResponseError, RateLimitedError


def breaker(**changes):
    """Return a circuit breaker that opens at the third failure, for longer than a test takes."""
    return CircuitBreaker(**{"failure_limit": 3, "open_seconds": 3600, "probe_seconds": 3600} | changes)


def test_failures_in_a_row_open_it_and_a_success_closes_it():
    circuit = breaker()
    assert [circuit.record_failure() for _ in range(2)] == [False, False]
    assert not circuit.record_success() and circuit.claim_call()
    assert [circuit.record_failure() for _ in range(4)] == [False, False, True, False]
    assert circuit.is_open() and not circuit.claim_call()
    assert circuit.record_success()
    assert not circuit.is_open() and circuit.claim_call()


def test_half_open_one_caller_probes_it_and_a_failure_opens_it_again():
    circuit = breaker(open_seconds=0)
    for _ in range(3):
        circuit.record_failure()
    assert not circuit.is_open()
    with ThreadPoolExecutor(8) as callers:
        assert sum(callers.map(lambda _: circuit.claim_call(), range(64))) == 1
    circuit.open_seconds = 3600
    circuit.record_failure()
    assert circuit.is_open() and not circuit.claim_call()


def test_a_requested_back_off_is_no_failure():
    circuit = breaker(failure_limit=1)
    circuit.back_off(3600)
    assert circuit.is_backing_off() and not circuit.is_open()


@pytest.mark.parametrize(("failures", "seconds"), [(1, 5), (2, 10), (7, 300), (100_000, 300)])
def test_delays_grow_up_to_the_longest(failures, seconds):
    assert Backoff(first=5, longest=300).delay(failures) == seconds


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (NoResponseError(), 60),
        (RateLimitedError(429, retry_after=None), 60),
        (RateLimitedError(503, retry_after=0), 1),
        (RateLimitedError(429, retry_after=7), 7),
        (RateLimitedError(429, retry_after=math.inf), 3600),
    ],
)
def test_a_service_may_request_the_delay(error, seconds):
    assert requested_delay(error, default=60, longest=3600) == seconds
