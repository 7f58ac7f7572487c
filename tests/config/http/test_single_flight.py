"""config/redis/single_flight.py without Redis: each process by itself. tests/tokens/market/test_trending.py has what callers share."""

import sys
import threading
import traceback
import uuid

import pytest

from config.http.json_client import Retryable
from config.redis import single_flight
from config.redis.connection import PREFIX, redis
from config.redis.single_flight import Failed, Lifetimes, share

LIFETIMES = Lifetimes(fresh=300, kept=600, pause=30, patience=5, longest_call=10)
THREADS, NAMES = 8, 500


class NoTurn(Retryable):
    """Nobody was asked."""


@pytest.fixture
def alone(settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"


@pytest.fixture
def name():
    return f"test:{uuid.uuid4()}"


def get(name, ask):
    return share(name, ask, lifetimes=LIFETIMES, not_asked=NoTurn).value


def raising(error):
    def ask():
        raise error

    return ask


def failure_of(name, ask):
    with pytest.raises(Failed) as raised:
        get(name, ask)
    return raised.value


def test_each_caller_gets_a_failure_of_his_own(alone, name):
    first = failure_of(name, raising(Retryable("no answer")))
    lines = []
    for _ in range(3):
        failed = failure_of(name, raising(AssertionError("nobody is to be asked")))
        assert failed is not first
        assert (str(failed), 25 < failed.retry_after <= 30) == ("no answer", True)
        lines.append(len(traceback.extract_tb(failed.__traceback__)))
    assert len(set(lines)) == 1
    assert isinstance(first.__cause__, Retryable)


@pytest.mark.parametrize("with_redis", [False, True])
def test_whoever_could_not_ask_keeps_nobody_from_it(request, name, with_redis):
    if not with_redis:
        request.getfixturevalue("alone")
    for _ in range(2):
        with pytest.raises(NoTurn):
            get(name, raising(NoTurn()))
    assert get(name, lambda: "answer") == "answer"
    if with_redis:
        redis().delete(f"{PREFIX}shared:{name}")


def test_threads_that_come_first_together_ask_once(name):
    asked = []
    start = threading.Barrier(THREADS)

    def come():
        for number in range(NAMES):
            start.wait()
            # Itself, because the search for Redis lets one thread after the other arrive.
            single_flight._share_alone(
                f"{name}:{number}", lambda number=number: asked.append(number), LIFETIMES, NoTurn
            )

    threads = [threading.Thread(target=come) for _ in range(THREADS)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert sorted(asked) == list(range(NAMES))
