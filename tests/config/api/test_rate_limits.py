"""config/redis/rate_limits.py: exact counts for all processes together, and errors while Redis is unavailable."""

import multiprocessing
import secrets
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

import pytest
from redis import Redis

from config.redis.rate_limits import RateLimitResult, hit
from tests.processes.own_valkey import OwnServer
from tests.processes.waiting import wait_for

_THREADS, _CALLS = 4, 50


@pytest.fixture
def name() -> str:
    """Return a name without a counter."""
    return f"test:{secrets.token_hex(8)}"


@pytest.fixture
def client(settings: Any) -> Iterator[Redis]:
    """Connect to the counters' Redis."""
    with Redis.from_url(settings.REDIS_URL) as client:
        yield client


def hammer(name: str, limit: int, go: Connection, results: Connection) -> None:
    """Make all calls in a process at once, from several threads, after a message on `go`."""
    go.recv()
    with ThreadPoolExecutor(_THREADS) as pool:
        calls = [pool.submit(hit, name, limit=limit, seconds=60) for _ in range(_THREADS * _CALLS)]
    results.send([call.result().allowed for call in calls])


@pytest.mark.parametrize(("limit", "seconds"), [(0, 60), (-1, 60), (1, 0), (1, 0.009), (1, -1)])
def test_it_takes_no_limit_that_is_none(name: str, limit: int, seconds: float) -> None:
    with pytest.raises(ValueError, match="is not a limit"):
        hit(name, limit=limit, seconds=seconds)


def test_it_refuses_from_the_call_after_the_last_one_that_passes(name: str) -> None:
    verdicts = [hit(name, limit=3, seconds=60) for _ in range(5)]

    assert [verdict.allowed for verdict in verdicts] == [True, True, True, False, False]
    assert [verdict.remaining for verdict in verdicts] == [2, 1, 0, 0, 0]
    assert verdicts[0] == RateLimitResult(allowed=True, limit=3, remaining=2, reset_seconds=60.0)
    assert all(0 < verdict.reset_seconds <= 60 for verdict in verdicts)


def test_it_counts_each_name_by_itself(name: str) -> None:
    assert hit(f"{name}:a", limit=1, seconds=60).allowed
    assert hit(f"{name}:b", limit=1, seconds=60).allowed
    assert not hit(f"{name}:a", limit=1, seconds=60).allowed


def test_it_begins_a_new_window_after_the_returned_wait(name: str) -> None:
    for _ in range(5):
        assert hit(name, limit=1, seconds=0.1).allowed
        # Never shorter, so that a busy machine only makes the wait longer.
        time.sleep(hit(name, limit=1, seconds=0.1).reset_seconds)


def test_it_ends_a_window_however_often_it_refuses(name: str) -> None:
    assert hit(name, limit=1, seconds=1).allowed
    refused = []

    def passes_again() -> bool:
        verdict = hit(name, limit=1, seconds=1)
        refused.append(verdict.reset_seconds)
        return verdict.allowed

    wait_for(passes_again)
    # The time that is left becomes less with each refusal, and the call that passes begins anew.
    *waiting, fresh = refused
    assert waiting and waiting == sorted(waiting, reverse=True)
    assert fresh == 1


def test_it_returns_the_rest_of_a_window_to_the_millisecond(name: str, client: Redis) -> None:
    assert hit(name, limit=1, seconds=12.3456).reset_seconds == 12.346
    client.pexpire(f"launchboard:limit:{name}", 987_654)
    assert 12.346 < hit(name, limit=1, seconds=12.3456).reset_seconds <= 987.655


def test_it_never_refuses_for_ever(name: str, client: Redis) -> None:
    hit(name, limit=1, seconds=60)
    client.persist(f"launchboard:limit:{name}")

    assert hit(name, limit=1, seconds=60).reset_seconds == 60
    assert client.pttl(f"launchboard:limit:{name}") > 0


def test_it_keeps_nothing_of_a_window_that_is_over(name: str, client: Redis) -> None:
    hit(name, limit=1, seconds=0.05)
    wait_for(lambda: not client.exists(f"launchboard:limit:{name}"))


def test_it_lets_exactly_so_many_pass_of_the_calls_of_several_processes(name: str) -> None:
    # This opens the parent's connection, which the forked processes must not use.
    hit(f"{name}:before", limit=1, seconds=60)
    limit, context = 137, multiprocessing.get_context("fork")
    starts, answers = [], []
    processes = []
    for _ in range(2):
        (started, go), (answer, results) = context.Pipe(duplex=False), context.Pipe(duplex=False)
        processes.append(context.Process(target=hammer, args=(name, limit, started, results)))
        processes[-1].start()
        starts.append(go)
        answers.append(answer)
    for go in starts:
        go.send("go")
    passed = [answer.recv() for answer in answers]
    for process in processes:
        process.join(120)

    assert [process.exitcode for process in processes] == [0, 0]
    assert [len(calls) for calls in passed] == [_THREADS * _CALLS] * 2
    assert sum(map(sum, passed)) == limit
    assert hit(f"{name}:before", limit=1, seconds=60).remaining == 0


def test_it_meets_a_restart_between_two_calls_without_a_gap(name: str, own_server: OwnServer) -> None:
    assert hit(name, limit=9, seconds=60).remaining == 8
    own_server.stop()
    own_server.start()

    assert hit(name, limit=9, seconds=60).remaining == 8
