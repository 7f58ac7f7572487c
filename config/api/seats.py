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
def seat(*, patience: float = 0) -> Iterator[None]:
    """Around what asks a node. Raises UpstreamUnavailable (503) where all seats are taken for `patience` seconds."""
    if not _seats.acquire(timeout=patience):
        raise UpstreamUnavailable("Too many calls wait for the chain", wait=1)
    try:
        yield
    finally:
        _seats.release()
