"""Concurrency limits (bulkheads) per process for work that blocks a thread or computes for long.

A hung node blocks a thread for seconds, as do a lock held by another writer, and the rules of a large body. The other
threads stay free for all other requests.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from config.http.errors import RetryableError

# Threads of a web process that run requests.
THREADS = 4
SLOTS = THREADS // 2
# Requests of one client address in such a process: those that run, and with those that wait. Further ones get 429.
THREADS_PER_ADDRESS = THREADS // 2
REQUESTS_PER_ADDRESS = 64

# Bodies above this size take the slot of large bodies: those of an airdrop cost about 0.2 ms of CPU time per KiB.
LARGE_BODY_BYTES = 64 * 1024


class BusyError(RetryableError):
    """No slot for a kind of work is free, or became free in time; `work` names it in the plural."""

    def __init__(self, work: str) -> None:
        super().__init__(f"Too many concurrent {work}")
        self.work = work


class ConcurrencyLimit:
    """Slots for a number of callers. Few more wait for a slot; further ones fail at once, so that a thread is free."""

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
write_slot = ConcurrencyLimit(SLOTS, "writes")
# Threads that call an outside service for others, or block on such a run or on that of a view. A service that hangs
# blocks them for seconds, however many clients call.
shared_run_slot = ConcurrencyLimit(SLOTS, "requests to outside services")
large_body_slot = ConcurrencyLimit(1, "large bodies", timeout=1.0)
password_slot = ConcurrencyLimit(1, "log-ins", timeout=1.0)
# A card takes a tenth of a second of CPU time and some MB.
card_slot = ConcurrencyLimit(1, "share cards", timeout=1.0)
# A picture takes up to 1.2 s of CPU time and 200 MB; a document takes neither, and does not wait for it. A storage that
# hangs blocks the threads of both.
picture_slot = ConcurrencyLimit(1, "uploads", timeout=2.0)
document_slot = ConcurrencyLimit(1, "uploads", timeout=2.0)
