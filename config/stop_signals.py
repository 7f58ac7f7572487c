"""SIGINT and SIGTERM of a long command: a stop event, and an exit after a grace period."""

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Timer

logger = logging.getLogger(__name__)

# Seconds that the work has to end by itself after a signal.
GRACE_SECONDS = 1.0


@contextmanager
def stopped_by_signals(*, status: int, grace_seconds: float = GRACE_SECONDS) -> Iterator[Event]:
    """Yield an event that SIGINT and SIGTERM set. Exit with `status` if the block exceeds the grace period after it.

    Its threads are then blocked on another server, which no event ends, or on a long statement. Nothing is lost: the
    database rolls back what is not committed, and progress is committed with its rows.
    """
    stop = Event()
    deadline = Timer(grace_seconds, _exit, args=(status,))
    deadline.daemon = True

    def end(*_: object) -> None:
        if not stop.is_set():
            # Before the event: setting it blocks if the signal interrupts this thread inside `stop.wait`.
            deadline.start()
            stop.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        deadline.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def _exit(status: int) -> None:
    logger.warning("stopped without waiting for open requests; the same command continues from there")
    logging.shutdown()
    os._exit(status)
