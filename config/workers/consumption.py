"""Worker heartbeat, which stops while the worker consumes nothing that it could."""

import logging
import time
from threading import Thread
from typing import Any

from celery.bootsteps import StartStopStep
from celery.worker import state
from redis.exceptions import RedisError

from config.processes.heartbeats import INTERVAL_SECONDS, Heartbeat
from config.workers.broker import count_waiting, release_failed_credits

logger = logging.getLogger(__name__)

# A worker counts as stuck after this many seconds without a task, with a free process and waiting messages. A lost
# connection is opened again within seconds.
STUCK_SECONDS = 30.0


class Consumption:
    """Whether a worker takes tasks while messages wait and it has a free process.

    A Redis outage is not the worker's fault: what waits is unknown then.
    """

    def __init__(self, queues: list[str], *, processes: int) -> None:
        self._queues, self._processes = queues, processes
        self._accepted = -1
        # Monotonic time since which each check has seen it idle beside waiting messages.
        self._idle_since: float | None = None

    def is_stuck(self, *, now: float, accepted: int, busy: int) -> bool:
        """Return whether it has been idle for STUCK_SECONDS beside waiting messages.

        `now` is monotonic time, `accepted` counts the tasks since the start, `busy` the running ones.
        """
        is_idle = accepted == self._accepted and busy < self._processes and self._has_waiting()
        self._accepted = accepted
        if not is_idle:
            self._idle_since = None
        elif self._idle_since is None:
            self._idle_since = now
        return self._idle_since is not None and now - self._idle_since >= STUCK_SECONDS

    def _has_waiting(self) -> bool:
        try:
            return count_waiting(self._queues) > 0
        except RedisError:
            # The client has logged it.
            return False


class WorkerHeartbeat(StartStopStep):
    """Heartbeat of the worker's main process, sent by a separate thread.

    The event loop blocks while Redis is unreachable, and a worker that waits for it must not be restarted. A task that
    hangs is ended by its time limit.
    """

    # The children do not inherit a thread of the main process.
    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        release_failed_credits()

    def start(self, parent: Any) -> None:
        consumption = Consumption(list(parent.app.amqp.queues.consume_from), processes=parent.concurrency)
        Thread(target=self._repeat, args=(Heartbeat("worker"), consumption), name="heartbeat", daemon=True).start()

    @staticmethod
    def _repeat(heartbeat: Heartbeat, consumption: Consumption) -> None:
        while True:
            time.sleep(INTERVAL_SECONDS)
            accepted, busy = state.all_total_count[0], len(state.active_requests)
            if consumption.is_stuck(now=time.monotonic(), accepted=accepted, busy=busy):
                logger.error("this worker consumes nothing, though messages wait and a process is free: restart it")
            else:
                heartbeat.beat()
