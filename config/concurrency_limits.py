"""Concurrency limits (bulkheads) per process for work that blocks on a chain's nodes or on database locks.

A hung node blocks a thread for seconds, as does a lock held by another writer. The other threads stay free for all
other requests.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from config.http.errors import RetryableError

# Half of the threads per process in the Procfile.
SLOTS = 2
_node_slots, _write_slots = BoundedSemaphore(SLOTS), BoundedSemaphore(SLOTS)


class NodeSlotTimeoutError(RetryableError):
    """No slot for a node call became free in time."""


class WriteSlotTimeoutError(RetryableError):
    """No slot for a write is free."""


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
def _held_slot(slots: BoundedSemaphore, timeout: float, error: Exception) -> Iterator[None]:
    if not slots.acquire(timeout=timeout):
        raise error
    try:
        yield
    finally:
        slots.release()
