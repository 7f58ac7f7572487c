"""SIGINT and SIGTERM for a long command: a stop event, and an exit after a grace period."""

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Event, Thread

logger = logging.getLogger(__name__)

# Seconds that the work has to end by itself after a signal.
GRACE_SECONDS = 1.0


@contextmanager
def stopped_by_signals(*, status: int, grace_seconds: float = GRACE_SECONDS) -> Iterator[Event]:
    """Yield an event that SIGINT and SIGTERM set. Exit with `status` if the block exceeds the grace period after it.

    Its threads are then blocked on another server, which no event ends, or on a long statement. Nothing is lost: the
    database rolls back what is not committed, and progress is committed with its rows.
    """
    stop, ended = Event(), Event()
    # Whether a signal arrived, or False when the block ends. A handler may call only this queue's `put` at any time,
    # even within another handler: the locks in events and threads are not reentrant.
    signals: SimpleQueue[bool] = SimpleQueue()

    def end_in_time() -> None:
        if signals.get():
            stop.set()
            if not ended.wait(grace_seconds):
                _exit(status)

    def report(*_: object) -> None:
        signals.put(True)

    Thread(target=end_in_time, name="stop", daemon=True).start()
    before = {number: signal.signal(number, report) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        ended.set()
        signals.put(False)
        for number, handler in before.items():
            signal.signal(number, handler)


def _exit(status: int) -> None:
    logger.warning("stopped without waiting for open requests; the same command continues from there")
    logging.shutdown()
    os._exit(status)
