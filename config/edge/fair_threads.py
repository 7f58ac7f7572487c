"""Threads that client addresses take in turns, with a bound per address.

Decided on the event loop, before a thread is taken: one address leaves threads free for the others, however many
requests it sends and whatever they cost.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from config.edge.wsgi_environ import RefusedRequestError

# A request's work, and the future that its end resolves.
_Job = tuple[Callable[[], object], "asyncio.Future[object]"]


class FairThreads:
    """Thread pool with a queue per address. Used on the event loop only."""

    def __init__(self, threads: int, *, threads_per_address: int, requests_per_address: int) -> None:
        """Run at most `threads_per_address` requests per address at once; up to `requests_per_address` run or wait.

        A free thread takes the oldest request from the address that has waited longest for its turn.
        """
        self._pool = ThreadPoolExecutor(threads, "request")
        self._free = threads
        self._threads_per_address, self._requests_per_address = threads_per_address, requests_per_address
        self._running: Counter[str] = Counter()
        # In the sequence of turns; none is empty.
        self._queues: dict[str, deque[_Job]] = {}

    async def run(self, address: str, work: Callable[[], object], *, timeout: float) -> None:
        """Run the work in a thread, and return when it ends.

        Raises RefusedRequestError (429) if the address has too many requests that run or wait, and TimeoutError after
        `timeout` seconds: work that waits is dropped, but a thread can't be stopped, so that begun work ends later.
        """
        queue = self._queues.get(address, ())
        if self._running[address] + len(queue) >= self._requests_per_address:
            raise RefusedRequestError(429, "Too many requests at once from this address")
        job: _Job = (work, asyncio.get_running_loop().create_future())
        self._queues.setdefault(address, deque()).append(job)
        self._start_next()
        try:
            async with asyncio.timeout(timeout):
                await asyncio.shield(job[1])
        except TimeoutError:
            self._drop(address, job)
            raise

    def _start_next(self) -> None:
        while self._free:
            address = next(
                (client for client in self._queues if self._running[client] < self._threads_per_address), None
            )
            if address is None:
                return
            queue = self._queues.pop(address)
            work, end = queue.popleft()
            if queue:
                self._queues[address] = queue
            self._free -= 1
            self._running[address] += 1
            asyncio.wrap_future(self._pool.submit(work)).add_done_callback(partial(self._finish, address, end))

    def _finish(self, address: str, end: "asyncio.Future[object]", run: "asyncio.Future[object]") -> None:
        self._free += 1
        self._running[address] -= 1
        if not self._running[address]:
            del self._running[address]
        error = run.exception()
        if error is None:
            end.set_result(None)
        else:
            end.set_exception(error)
        self._start_next()

    def _drop(self, address: str, job: _Job) -> None:
        queue = self._queues.get(address, deque())
        if job in queue:
            queue.remove(job)
            if not queue:
                del self._queues[address]
