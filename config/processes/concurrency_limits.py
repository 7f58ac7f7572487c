"""Concurrency limits (bulkheads) per process for work that blocks a thread or computes for long.

A thread may block for seconds: a node hangs, another writer holds a lock, or a large body has many rules to check. The
other threads stay free for all other requests.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from config.http.errors import RetryableError

# A web process runs requests in this many threads.
THREADS = 4
SLOTS = THREADS // 2
# One client address may have this many requests in a web process: running, and running or waiting. More get 429.
THREADS_PER_ADDRESS = THREADS // 2
REQUESTS_PER_ADDRESS = 64

# Bodies above this size take the slot for large bodies: an airdrop body costs about 0.2 ms of CPU time per KiB.
LARGE_BODY_BYTES = 64 * 1024


class BusyError(RetryableError):
    """No slot for a kind of work is free, or became free in time; `work` names it in the plural."""

    def __init__(self, work: str) -> None:
        super().__init__(f"Too many concurrent {work}")
        self.work = work


class ConcurrencyLimit:
    """Slots for a number of callers. Few more wait for a slot; further ones fail at once, which frees their thread."""

    def __init__(self, slots: int, work: str, *, timeout: float = 0, waiting: int = 1) -> None:
        """Raise BusyError if no slot becomes free within `timeout` seconds, or if `waiting` callers wait already."""
        self._slots, self._places = BoundedSemaphore(slots), BoundedSemaphore(slots + waiting)
        self._work, self._timeout = work, timeout

    @contextmanager
    def __call__(self, *, timeout: float | None = None) -> Iterator[None]:
        """Hold a slot while the block runs; `timeout` overrides the limit's own."""
        seconds = self._timeout if timeout is None else timeout
        with self._held(self._places, 0), self._held(self._slots, seconds):
            yield

    @contextmanager
    def _held(self, slots: BoundedSemaphore, timeout: float) -> Iterator[None]:
        if not slots.acquire(timeout=timeout):
            raise BusyError(self._work)
        try:
            yield
        finally:
            slots.release()


# Launch requests, which only partners send, may all wait: they come in bursts.
node_slot = ConcurrencyLimit(SLOTS, "calls to the chain", waiting=100)
# Unsigned transactions that run or wait: they come from any number of addresses, and leave a thread free.
transaction_slot = ConcurrencyLimit(THREADS - 1, "calls to the chain", waiting=0)
# Public requests that call a node each: a flood of them leaves the other threads, and the calls of partners.
public_node_slot = ConcurrencyLimit(1, "calls to the chain", timeout=2.0, waiting=1)
write_slot = ConcurrencyLimit(SLOTS, "writes")
# Threads that call an outside service for others, or that block on such a run or on a view's run. A service that hangs
# blocks them for seconds, however many clients call.
shared_run_slot = ConcurrencyLimit(SLOTS, "requests to outside services")
large_body_slot = ConcurrencyLimit(1, "large bodies", timeout=1.0)
password_slot = ConcurrencyLimit(1, "log-ins", timeout=1.0)
# A card takes 0.1 s of CPU time and some MB.
card_slot = ConcurrencyLimit(1, "share cards", timeout=1.0)
# A picture takes up to 1.2 s of CPU time and 200 MB; a document takes neither, and does not wait for it. A storage that
# hangs blocks the threads for both.
picture_slot = ConcurrencyLimit(1, "uploads", timeout=2.0)
document_slot = ConcurrencyLimit(1, "uploads", timeout=2.0)
