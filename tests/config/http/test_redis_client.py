"""config/redis/connection.py: the circuit breaker of a process, which opens for some seconds after a failure."""

import logging
import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from redis import Redis
from redis.exceptions import RedisError

from config.redis.connection import CircuitOpenError, redis_client
from config.redis.rate_limits import CountersUnavailableError, hit
from tests.processes.own_valkey import OwnServer
from tests.processes.waiting import wait_for
from tokens.catalogue import totals
from tokens.catalogue.list_statements import ListStatements
from tokens.catalogue.selections import Selection

_THREADS = 4


@contextmanager
def silent_server() -> Iterator[socket.socket]:
    """Listen on a port that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def url_of(listening: socket.socket) -> str:
    return f"redis://127.0.0.1:{listening.getsockname()[1]}/0"


def connections(listening: socket.socket) -> int:
    """Return the number of connections since the last call."""
    number = 0
    while True:
        try:
            listening.accept()[0].close()
        except BlockingIOError:
            return number
        number += 1


def use_everything() -> None:
    """Use Redis in all ways in which requests use it."""
    with pytest.raises(CountersUnavailableError):
        hit("x", limit=1, seconds=60)
    assert totals.fetch_large_total(ListStatements.of(Selection())) is None
    assert not totals.claim_count()
    with pytest.raises(RedisError):
        redis_client().ping()
    with redis_client().pipeline() as pipeline, pytest.raises(RedisError):
        pipeline.ping()
        pipeline.execute()


def answers() -> bool:
    try:
        return bool(redis_client().ping())
    except RedisError:
        return False


def test_a_server_that_hangs_is_waited_for_once_by_all_callers(settings):
    with silent_server() as listening:
        settings.REDIS_URL = url_of(listening)
        for _ in range(5):
            use_everything()
        assert connections(listening) == 1


def test_a_server_that_is_away_is_warned_of_once_and_without_the_password(settings, unused_port, caplog):
    settings.REDIS_URL = f"redis://:s3cret@127.0.0.1:{unused_port}/0"
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            use_everything()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "retrying every 3 s" in caplog.text
    assert "s3cret" not in caplog.text


def test_of_several_threads_that_waited_one_logs(settings, caplog):
    together = threading.Barrier(_THREADS)

    def call() -> None:
        together.wait()
        assert not answers()

    with silent_server() as listening, ThreadPoolExecutor(_THREADS) as pool, caplog.at_level(logging.WARNING):
        settings.REDIS_URL = url_of(listening)
        for waiting in [pool.submit(call) for _ in range(_THREADS)]:
            waiting.result()
    assert len(caplog.records) == 1


def test_half_open_one_call_tries_and_the_others_go_on_without(settings):
    with silent_server() as listening, ThreadPoolExecutor(_THREADS) as pool:
        settings.REDIS_URL = url_of(listening)
        assert not answers()
        assert connections(listening) == 1
        came = threading.Event()

        def keep_calling() -> None:
            while not came.is_set():
                assert not answers()

        calling = [pool.submit(keep_calling) for _ in range(_THREADS)]
        try:
            wait_for(lambda: connections(listening))
        finally:
            came.set()
        for thread in calling:
            thread.result()
        assert connections(listening) == 0


def test_a_server_that_resumes_is_called_as_before(own_server: OwnServer, caplog):
    assert answers()
    own_server.suspend()
    assert not answers()
    with pytest.raises(CircuitOpenError):
        redis_client().ping()
    own_server.resume()
    with caplog.at_level(logging.INFO, logger="config"):
        wait_for(answers)
    assert "responds again" in caplog.text
    assert all(answers() for _ in range(20))


def test_a_restarted_server_without_the_script_is_called_as_before(own_server: OwnServer):
    assert hit("x", limit=9, seconds=60).remaining == 8
    own_server.stop()
    with pytest.raises(CountersUnavailableError):
        hit("x", limit=9, seconds=60)
    own_server.start()
    script = redis_client().register_script("return 7")

    def run() -> bool:
        try:
            return script() == 7
        except RedisError:
            return False

    # The script is unknown to the server at the attempt that closes the circuit breaker.
    wait_for(run)


def test_a_server_that_refuses_opens_the_circuit_breaker_too(settings):
    user = f"refused-{os.getpid()}"
    url = settings.REDIS_URL
    with Redis.from_url(url) as server:
        server.execute_command("ACL", "SETUSER", user, "on", "nopass", "~*", "+client")
        settings.REDIS_URL = f"{url.replace('unix://', f'unix://{user}@')}&password=any"
        client = redis_client()
        try:
            with pytest.raises(RedisError, match="no permissions"):
                client.get("x")
            with pytest.raises(CircuitOpenError):
                client.get("x")
        finally:
            server.execute_command("ACL", "DELUSER", user)


def test_each_server_has_its_own_circuit_breaker(settings, unused_port):
    good = settings.REDIS_URL
    settings.REDIS_URL = f"redis://127.0.0.1:{unused_port}/0"
    assert not answers()
    settings.REDIS_URL = good
    assert answers()
