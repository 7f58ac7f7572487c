"""Threads in turns by client address: one address's bound, several addresses' sequence, and late requests."""

import asyncio
from collections.abc import Callable, Coroutine
from threading import Event
from typing import Any

import pytest

from config.edge.fair_threads import FairThreads
from config.edge.wsgi_environ import RefusedRequestError

TIMEOUT = 60.0


class Requests:
    """Requests that run until they are released, and the names of the begun ones."""

    def __init__(self, *, threads: int = 2, threads_per_address: int = 2, requests_per_address: int = 100) -> None:
        self.threads = FairThreads(
            threads, threads_per_address=threads_per_address, requests_per_address=requests_per_address
        )
        self.begun: list[str] = []
        self._released: dict[str, Event] = {}

    def send(self, name: str, *, timeout: float = TIMEOUT) -> "asyncio.Task[None]":
        """Send a request from the address that its name begins with, such as `a1` from `a`."""
        released = self._released[name] = Event()

        def work() -> None:
            self.begun.append(name)
            assert released.wait(TIMEOUT)

        return asyncio.create_task(self.threads.run(name[0], work, timeout=timeout))

    async def are_begun(self, *names: str) -> None:
        """Wait until exactly these have begun, in this sequence."""
        async with asyncio.timeout(TIMEOUT):
            while len(self.begun) < len(names):
                await asyncio.sleep(0)
        assert self.begun == list(names)

    def release(self, *names: str) -> None:
        for name in names:
            self._released[name].set()


def run(scene: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scene())


def test_one_address_leaves_threads_free():
    async def scene() -> None:
        requests = Requests(threads=4)
        sent = [requests.send(f"a{number}") for number in range(4)]
        await requests.are_begun("a0", "a1")
        sent.append(requests.send("b0"))
        await requests.are_begun("a0", "a1", "b0")
        requests.release("a0", "a1", "a2", "a3", "b0")
        await asyncio.gather(*sent)
        assert sorted(requests.begun) == ["a0", "a1", "a2", "a3", "b0"]

    run(scene)


def test_addresses_take_turns_however_many_requests_of_one_wait():
    async def scene() -> None:
        requests = Requests(threads=1, threads_per_address=1)
        sent = [requests.send(name) for name in ("a0", "a1", "a2", "b0", "b1", "c0")]
        await requests.are_begun("a0")
        requests.release("a0", "a1", "a2", "b0", "b1", "c0")
        await asyncio.gather(*sent)
        assert requests.begun == ["a0", "a1", "b0", "c0", "a2", "b1"]

    run(scene)


def test_an_address_beyond_its_bound_is_refused_without_a_thread():
    async def scene() -> None:
        requests = Requests(threads=1, requests_per_address=3)
        sent = [requests.send(f"a{number}") for number in range(3)]
        await requests.are_begun("a0")
        with pytest.raises(RefusedRequestError, match="from this address") as refused:
            await requests.send("a3")
        assert refused.value.status == 429
        sent.append(requests.send("b0"))
        requests.release("a0", "a1", "a2", "b0")
        await asyncio.gather(*sent)
        requests.release("a0")
        # Its requests have ended.
        again = requests.send("a4")
        requests.release("a4")
        await again
        assert "a3" not in requests.begun

    run(scene)


def test_a_late_request_that_waits_is_dropped_and_a_running_one_keeps_its_thread():
    async def scene() -> None:
        requests = Requests(threads=1)
        running, waiting = requests.send("a0", timeout=1.0), requests.send("a1", timeout=0.01)
        await requests.are_begun("a0")
        for late in (running, waiting):
            with pytest.raises(TimeoutError):
                await late
        last = requests.send("b0")
        assert requests.begun == ["a0"]
        requests.release("a0", "b0")
        await last
        assert requests.begun == ["a0", "b0"]

    run(scene)


def test_an_error_of_the_work_is_that_of_its_request():
    async def scene() -> None:
        requests = Requests(threads=1)

        def fail() -> None:
            raise ValueError("of this request")

        with pytest.raises(ValueError, match="of this request"):
            await requests.threads.run("a", fail, timeout=TIMEOUT)
        last = requests.send("a0")
        requests.release("a0")
        await last

    run(scene)
