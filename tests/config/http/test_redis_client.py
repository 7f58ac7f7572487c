"""The one client of Redis: a server that fails is left alone by a whole process for a while."""

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

from config.edge.request_coalescing import SharedRuns, Turn
from config.redis.connection import PAUSE_SECONDS, LeftAlone, connect, redis
from config.redis.rate_limits import CountersUnavailable, take
from tests.processes.own_valkey import OwnServer
from tests.processes.waiting import wait_for
from tokens.catalogue import totals, viewed_tokens
from tokens.catalogue.selections import Selection

_THREADS = 4


@contextmanager
def silent_server() -> Iterator[socket.socket]:
    """It takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def url_of(listening: socket.socket) -> str:
    return f"redis://127.0.0.1:{listening.getsockname()[1]}/0"


def connections(listening: socket.socket) -> int:
    """How many came since the last look."""
    number = 0
    while True:
        try:
            listening.accept()[0].close()
        except BlockingIOError:
            return number
        number += 1


def use_everything(url: str) -> None:
    """What requests want of Redis."""
    with pytest.raises(CountersUnavailable):
        take("x", limit=1, seconds=60)
    viewed_tokens._next_flush = 0.0
    viewed_tokens.note_viewed([1])
    assert SharedRuns(url).take_turn("x") == Turn()
    assert totals.remembered(Selection()) is None
    assert not totals.claim_count()
    with pytest.raises(RedisError):
        redis().ping()
    with redis().pipeline() as pipeline, pytest.raises(RedisError):
        pipeline.ping()
        pipeline.execute()


def answers() -> bool:
    try:
        return bool(redis().ping())
    except RedisError:
        return False


def test_a_server_that_hangs_is_waited_for_once_whoever_asks(settings):
    with silent_server() as listening:
        settings.REDIS_URL = url_of(listening)
        for _ in range(5):
            use_everything(settings.REDIS_URL)
        assert connections(listening) == 1


def test_a_server_that_is_away_is_warned_of_once_and_without_the_password(settings, unused_port, caplog):
    settings.REDIS_URL = f"redis://:s3cret@127.0.0.1:{unused_port}/0"
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            use_everything(settings.REDIS_URL)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "asked again every 3 s" in caplog.text
    assert "s3cret" not in caplog.text


def test_of_several_threads_that_waited_one_tells(settings, caplog):
    together = threading.Barrier(_THREADS)

    def call() -> None:
        together.wait()
        assert not answers()

    with silent_server() as listening, ThreadPoolExecutor(_THREADS) as pool, caplog.at_level(logging.WARNING):
        settings.REDIS_URL = url_of(listening)
        for waiting in [pool.submit(call) for _ in range(_THREADS)]:
            waiting.result()
    assert len(caplog.records) == 1


def test_after_the_pause_one_call_tries_and_the_others_go_on_without(settings):
    with silent_server() as listening, ThreadPoolExecutor(_THREADS) as pool:
        settings.REDIS_URL = url_of(listening)
        assert not answers()
        assert connections(listening) == 1
        came = threading.Event()

        def keep_asking() -> None:
            while not came.is_set():
                assert not answers()

        asking = [pool.submit(keep_asking) for _ in range(_THREADS)]
        try:
            wait_for(lambda: connections(listening), seconds=PAUSE_SECONDS + 10)
        finally:
            came.set()
        for thread in asking:
            thread.result()
        assert connections(listening) == 0


def test_a_server_that_goes_on_is_asked_as_before(own_server: OwnServer, caplog):
    assert answers()
    own_server.hold_up()
    assert not answers()
    with pytest.raises(LeftAlone):
        redis().ping()
    own_server.go_on()
    with caplog.at_level(logging.INFO, logger="config"):
        wait_for(answers, seconds=PAUSE_SECONDS + 10)
    assert "answers again" in caplog.text
    assert all(answers() for _ in range(20))


def test_a_server_that_was_started_again_knows_no_script_and_is_asked_as_before(own_server: OwnServer):
    assert take("x", limit=9, seconds=60).remaining == 8
    own_server.stop()
    with pytest.raises(CountersUnavailable):
        take("x", limit=9, seconds=60)
    own_server.start()
    script = redis().register_script("return 7")

    def run() -> bool:
        try:
            return script() == 7
        except RedisError:
            return False

    # The attempt that ends the pause is the one that learns that the script is unknown.
    wait_for(run, seconds=PAUSE_SECONDS + 10)


def test_a_server_that_refuses_is_left_alone_too(redis_url):
    user = f"refused-{os.getpid()}"
    with Redis.from_url(redis_url) as server:
        server.execute_command("ACL", "SETUSER", user, "on", "nopass", "~*", "+client")
        client = connect(f"{redis_url.replace('unix://', f'unix://{user}@')}&password=any")
        try:
            with pytest.raises(RedisError, match="no permissions"):
                client.get("x")
            with pytest.raises(LeftAlone):
                client.get("x")
        finally:
            server.execute_command("ACL", "DELUSER", user)


def test_one_server_in_a_pause_is_no_matter_of_another(settings, unused_port):
    good = settings.REDIS_URL
    settings.REDIS_URL = f"redis://127.0.0.1:{unused_port}/0"
    assert not answers()
    settings.REDIS_URL = good
    assert answers()
