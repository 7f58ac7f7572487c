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


class NodeSlotTimeoutError(RetryableError):
    """No slot for a node call became free in time."""


class WriteSlotTimeoutError(RetryableError):
    """No slot for a write that may block on a lock is free."""


class SharedRunSlotTimeoutError(RetryableError):
    """No slot for a shared run is free."""


class LargeBodySlotTimeoutError(RetryableError):
    """Another large body is processed, and did not end in time."""


class PasswordSlotTimeoutError(RetryableError):
    """Another password is checked, and the check did not end in time."""


class CardSlotTimeoutError(RetryableError):
    """Other share cards are drawn, and did not end in time."""


class UploadSlotTimeoutError(RetryableError):
    """Another upload is processed, and did not end in time."""


class ConcurrencyLimit:
    """Slots for a number of callers. Few more wait for a slot; further ones fail at once, so that a thread is free."""

    def __init__(self, slots: int, error: type[RetryableError], *, timeout: float = 0, waiting: int = 1) -> None:
        """Raise `error` if no slot becomes free within `timeout` seconds, or if `waiting` callers wait already."""
        self._slots, self._places = BoundedSemaphore(slots), BoundedSemaphore(slots + waiting)
        self._error, self._timeout = error, timeout

    @contextmanager
    def __call__(self, *, timeout: float | None = None) -> Iterator[None]:
        """Hold a slot while the block runs; `timeout` overrides the limit's own."""
        seconds = self._timeout if timeout is None else timeout
        with self._held(self._places, 0), self._held(self._slots, seconds):
            yield

    @contextmanager
    def _held(self, slots: BoundedSemaphore, timeout: float) -> Iterator[None]:
        if not slots.acquire(timeout=timeout):
            raise self._error("too many concurrent calls")
        try:
            yield
        finally:
            slots.release()


# Launch requests, which only partners send, may all wait: they come in bursts.
node_slot = ConcurrencyLimit(SLOTS, NodeSlotTimeoutError, waiting=100)
write_slot = ConcurrencyLimit(SLOTS, WriteSlotTimeoutError)
# Threads that call an outside service for others, or block on such a run or on that of a view. A service that hangs
# blocks them for seconds, however many clients call.
shared_run_slot = ConcurrencyLimit(SLOTS, SharedRunSlotTimeoutError)
large_body_slot = ConcurrencyLimit(1, LargeBodySlotTimeoutError, timeout=1.0)
password_slot = ConcurrencyLimit(1, PasswordSlotTimeoutError, timeout=1.0)
# A card takes a tenth of a second of CPU time and some MB.
card_slot = ConcurrencyLimit(1, CardSlotTimeoutError, timeout=1.0)
# A picture takes up to 1.2 s of CPU time and 200 MB; a document takes neither, and does not wait for it. A storage that
# hangs blocks the threads of both.
picture_slot = ConcurrencyLimit(1, UploadSlotTimeoutError, timeout=2.0)
document_slot = ConcurrencyLimit(1, UploadSlotTimeoutError, timeout=2.0)
