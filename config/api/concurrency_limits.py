"""How many threads of a process may wait for a chain's nodes, or for who else writes, in answers asked for at any time.

A node that hangs holds a thread for seconds, as do others who write. Some stay free, so that everything else goes on.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from rest_framework.exceptions import APIException

from config.api.errors import Unavailable, UpstreamUnavailable

# Half of the threads that the Procfile gives a process.
SEATS = 2
_of_nodes, _of_writers = BoundedSemaphore(SEATS), BoundedSemaphore(SEATS)


@contextmanager
def seat(*, patience: float = 0) -> Iterator[None]:
    """Around what asks a node. Raises UpstreamUnavailable (503) where all seats are taken for `patience` seconds."""
    with _taken(_of_nodes, patience, UpstreamUnavailable("Too many calls wait for the chain", wait=1)):
        yield


@contextmanager
def writing_seat() -> Iterator[None]:
    """Around what waits for others who write the same tables. Raises Unavailable (503) where all seats are taken."""
    with _taken(_of_writers, 0, Unavailable("Too many calls wait to be written", wait=1)):
        yield


@contextmanager
def _taken(seats: BoundedSemaphore, patience: float, refusal: APIException) -> Iterator[None]:
    if not seats.acquire(timeout=patience):
        raise refusal
    try:
        yield
    finally:
        seats.release()
