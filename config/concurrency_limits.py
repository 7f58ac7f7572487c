"""Concurrency limits (bulkheads) per process for work that blocks a thread or computes for long.

A hung node blocks a thread for seconds, as do a lock held by another writer, and the rules of a large body. The other
threads stay free for all other requests.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from config.http.errors import RetryableError

# Half of the threads per process in the Procfile.
SLOTS = 2
_node_slots, _write_slots = BoundedSemaphore(SLOTS), BoundedSemaphore(SLOTS)

# Bodies above this size take the slot of large bodies: those of an airdrop cost about 0.2 ms of CPU time per KiB.
LARGE_BODY_BYTES = 64 * 1024
# One slot, and how many callers may hold it or wait for it: the second one waits, further ones fail at once.
_large_body_slot, _large_body_places = BoundedSemaphore(1), BoundedSemaphore(2)
_SINGLE_SLOT_TIMEOUT_SECONDS = 1.0


class NodeSlotTimeoutError(RetryableError):
    """No slot for a node call became free in time."""


class WriteSlotTimeoutError(RetryableError):
    """No slot for a write is free."""


class LargeBodySlotTimeoutError(RetryableError):
    """Another large body is processed, and did not end in time."""


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
def large_body_slot() -> Iterator[None]:
    """Process one large body at a time; raise LargeBodySlotTimeoutError if the slot does not become free in time."""
    error = LargeBodySlotTimeoutError("too many concurrent large bodies")
    with (
        _held_slot(_large_body_places, 0, error),
        _held_slot(_large_body_slot, _SINGLE_SLOT_TIMEOUT_SECONDS, error),
    ):
        yield


@contextmanager
def _held_slot(slots: BoundedSemaphore, timeout: float, error: Exception) -> Iterator[None]:
    if not slots.acquire(timeout=timeout):
        raise error
    try:
        yield
    finally:
        slots.release()
