"""Periodic task runs: when each task last ended without an error, in one hash in Redis.

Beat enters each task with the current time, and workers replace it. So a task that never ran is as late as beat's
start, and if Redis loses its data no task counts as late at once.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from redis.exceptions import RedisError

from config.redis.connection import PREFIX, redis_client
from config.workers.broker import queue_of

_KEY = f"{PREFIX}periodic_runs"
# A task is late after this many periods, and these seconds for the tasks before it in its queue.
_LATE_PERIODS, _LATE_SECONDS = 3, 60.0
# The queue of tasks that must not wait.
URGENT_QUEUE = "watch"


@dataclass(frozen=True, kw_only=True, slots=True)
class PeriodicTask:
    """A task in beat's schedule, and its last run."""

    name: str
    period_seconds: float
    # Since its last run, or since beat first scheduled it; None if beat does not run.
    age_seconds: float | None

    @property
    def limit_seconds(self) -> float:
        """Return the age from which the task is late."""
        return self.period_seconds * _LATE_PERIODS + _LATE_SECONDS

    @property
    def is_late(self) -> bool:
        """Return whether the task has not run for too long."""
        return self.age_seconds is None or self.age_seconds > self.limit_seconds

    @property
    def is_urgent(self) -> bool:
        """Return whether the task must not wait: it watches deployments, sweeps, confirms, or makes partitions."""
        return queue_of(self.name) == URGENT_QUEUE


def record_schedule(now: datetime) -> None:
    """Enter the tasks that have no run. Raises RedisError."""
    with redis_client().pipeline(transaction=False) as pipeline:
        for name in _periods():
            pipeline.hsetnx(_KEY, name, now.timestamp())
        pipeline.execute()


def record_run(name: str, now: datetime) -> None:
    """Record that a task ended without an error, if it is a periodic one. Raises RedisError."""
    if name in _periods():
        redis_client().hset(_KEY, name, now.timestamp())


def read_periodic_tasks(now: datetime) -> list[PeriodicTask]:
    """Return all periodic tasks by name. Raises RedisError."""
    timestamp_by_name: Any = redis_client().hgetall(_KEY)
    times = {name.decode(): float(timestamp) for name, timestamp in timestamp_by_name.items()}
    return [
        PeriodicTask(
            name=name,
            period_seconds=period,
            age_seconds=max(0.0, now.timestamp() - times[name]) if name in times else None,
        )
        for name, period in sorted(_periods().items())
    ]


def are_urgent_tasks_late(now: datetime) -> bool:
    """Return whether a task that must not wait is late; without Redis no task runs."""
    try:
        return any(task.is_late and task.is_urgent for task in read_periodic_tasks(now))
    except RedisError:
        # The client has logged it.
        return True


def _periods() -> dict[str, float]:
    """Return task -> seconds between its runs."""
    return {entry["task"]: entry["schedule"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
