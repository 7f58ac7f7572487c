"""A lock for threads that compute between requests: one of them computes while the others wait for responses.

Python's threads compute one at a time anyway, but while history is read they alternate every half a millisecond. Each
then finds the processor's caches full of the others' data.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_local = threading.local()


@contextmanager
def computing(lock: threading.Lock) -> Iterator[None]:
    """Hold the lock while the block runs, except within `waiting`. Not reentrant."""
    with lock:
        _local.lock = lock
        try:
            yield
        finally:
            _local.lock = None


@contextmanager
def waiting() -> Iterator[None]:
    """Release this thread's lock, if it holds one, while the block waits for a response or for a time."""
    lock: threading.Lock | None = getattr(_local, "lock", None)
    if lock is None:
        yield
        return
    lock.release()
    try:
        yield
    finally:
        lock.acquire()
