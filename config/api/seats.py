"""How many threads of a process may wait for a chain's nodes in answers that partners and pages ask for at any time.

A node that hangs holds a thread for seconds. Some stay free, so that everything else goes on.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from config.api.errors import UpstreamUnavailable

# Half of the threads that the Procfile gives a process.
SEATS = 2
_seats = BoundedSemaphore(SEATS)


@contextmanager
def seat() -> Iterator[None]:
    """Around what asks a node. Raises UpstreamUnavailable (503) at once where all seats are taken."""
    if not _seats.acquire(blocking=False):
        raise UpstreamUnavailable("Too many calls wait for the chain", wait=1)
    try:
        yield
    finally:
        _seats.release()
