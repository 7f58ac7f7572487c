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
_node_slots, _write_slots, _shared_run_slots = (BoundedSemaphore(SLOTS) for _ in range(3))

# Bodies above this size take the slot of large bodies: those of an airdrop cost about 0.2 ms of CPU time per KiB.
LARGE_BODY_BYTES = 64 * 1024
_SINGLE_SLOT_TIMEOUT_SECONDS = 1.0


class NodeSlotTimeoutError(RetryableError):
    """No slot for a node call became free in time."""


class WriteSlotTimeoutError(RetryableError):
    """No slot for a write is free."""


class SharedRunSlotTimeoutError(RetryableError):
    """No slot for a shared run is free."""


class LargeBodySlotTimeoutError(RetryableError):
    """Another large body is processed, and did not end in time."""


class PasswordSlotTimeoutError(RetryableError):
    """Another password is checked, and the check did not end in time."""


class _SingleSlot:
    """One slot, for which one caller waits; further ones fail at once, so that their threads stay free."""

    def __init__(self, error: type[RetryableError], text: str) -> None:
        self._error, self._text = error, text
        self._slot, self._places = BoundedSemaphore(1), BoundedSemaphore(2)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        error = self._error(self._text)
        with _held_slot(self._places, 0, error), _held_slot(self._slot, _SINGLE_SLOT_TIMEOUT_SECONDS, error):
            yield


# Each raises its error if the slot does not become free within a second, or if another caller waits for it.
large_body_slot = _SingleSlot(LargeBodySlotTimeoutError, "too many concurrent large bodies")
password_slot = _SingleSlot(PasswordSlotTimeoutError, "too many concurrent password checks")


@contextmanager
def node_slot(*, timeout: float = 0) -> Iterator[None]:
    """Limit concurrent node calls; raise NodeSlotTimeoutError if no slot becomes free within `timeout` seconds."""
    with _held_slot(_node_slots, timeout, NodeSlotTimeoutError("too many concurrent node calls")):
        yield


@contextmanager
def write_slot() -> Iterator[None]:
    """Limit concurrent writes that may block on a lock; raise WriteSlotTimeoutError if all slots are in use."""
    with _held_slot(_write_slots, 0, WriteSlotTimeoutError("too many concurrent writes")):
        yield


@contextmanager
def shared_run_slot(*, timeout: float = 0) -> Iterator[None]:
    """Limit threads that call an outside service for others, or block on such a run or on that of a view.

    Raises SharedRunSlotTimeoutError. A service that hangs blocks them for seconds, however many clients call.
    """
    with _held_slot(_shared_run_slots, timeout, SharedRunSlotTimeoutError("too many concurrent shared runs")):
        yield


@contextmanager
def _held_slot(slots: BoundedSemaphore, timeout: float, error: Exception) -> Iterator[None]:
    if not slots.acquire(timeout=timeout):
        raise error
    try:
        yield
    finally:
        slots.release()
