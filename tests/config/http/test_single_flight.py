"""config/redis/single_flight.py without Redis, in each process by itself; test_trending.py tests it with Redis."""

import sys
import threading
import traceback
import uuid

import pytest

from config.http.errors import RetryableError
from config.redis import single_flight
from config.redis.connection import PREFIX, redis_client
from config.redis.single_flight import CacheTimes, FetchFailedError, fetch_shared

TIMES = CacheTimes(fresh=300, ttl=600, backoff=30, wait_timeout=5, lock_ttl=10)
THREADS, NAMES = 8, 500


class NotAttemptedError(RetryableError):
    """Raised if no request was sent."""


@pytest.fixture
def without_redis(settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"


@pytest.fixture
def name():
    return f"test:{uuid.uuid4()}"


def get(name, fetch):
    return fetch_shared(name, fetch, times=TIMES, not_attempted=NotAttemptedError).value


def raising(error):
    def fetch():
        raise error

    return fetch


def failure_of(name, fetch):
    with pytest.raises(FetchFailedError) as raised:
        get(name, fetch)
    return raised.value


def test_each_caller_gets_its_own_exception(without_redis, name):
    first = failure_of(name, raising(RetryableError("no answer")))
    lines = []
    for _ in range(3):
        failed = failure_of(name, raising(AssertionError("no request is expected")))
        assert failed is not first
        assert (str(failed), 25 < failed.retry_after <= 30) == ("no answer", True)
        lines.append(len(traceback.extract_tb(failed.__traceback__)))
    assert len(set(lines)) == 1
    assert isinstance(first.__cause__, RetryableError)


@pytest.mark.parametrize("with_redis", [False, True])
def test_a_fetch_that_was_not_attempted_blocks_no_other(request, name, with_redis):
    if not with_redis:
        request.getfixturevalue("without_redis")
    for _ in range(2):
        with pytest.raises(NotAttemptedError):
            get(name, raising(NotAttemptedError()))
    assert get(name, lambda: "answer") == "answer"
    if with_redis:
        redis_client().delete(f"{PREFIX}shared:{name}")


def test_threads_that_come_first_together_fetch_once(name):
    fetched = []
    start = threading.Barrier(THREADS)

    def fetch_all():
        for number in range(NAMES):
            start.wait()
            # Called directly, because the attempt to connect to Redis makes the threads arrive one after another.
            single_flight._fetch_without_redis(
                f"{name}:{number}", lambda number=number: fetched.append(number), TIMES, NotAttemptedError
            )

    threads = [threading.Thread(target=fetch_all) for _ in range(THREADS)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert sorted(fetched) == list(range(NAMES))
