"""Worker and beat checks, by messages to the workers, and leased queue depths."""

import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.conf import settings

from config.celery import app
from config.doctor.findings import Finding, Level
from config.postgresql.leased_queue import MAX_DEPTH, QueueState, leased_queues, measure_queues
from config.workers.periodic_tasks import read_periodic_tasks

# Seconds within which workers reply, and within which beat sends several tasks.
_REPLY_SECONDS = 1.5
_BEAT_SECONDS = 5.0
# Workers claim due rows within seconds.
_LATE_SECONDS = 300.0
_RUNBOOK = "repairing.md#runbook-a-process-or-server-fails"


def workers(now: datetime) -> Iterator[Finding]:
    """Yield whether workers respond, serve all queues, execute what beat sends, and run each periodic task in time."""
    queues_by_worker = app.control.inspect(timeout=_REPLY_SECONDS).active_queues() or {}
    if not queues_by_worker:
        yield Finding(
            level=Level.ERROR,
            summary="No worker responds: nothing is indexed by hash, sent, refreshed or counted.",
            action="Start a worker, and read its log.",
            guide=_RUNBOOK,
        )
        return
    missing = sorted(
        set(settings.CELERY_TASK_QUEUES) - {queue["name"] for queues in queues_by_worker.values() for queue in queues}
    )
    yield Finding(
        level=Level.ERROR if missing else Level.OK,
        summary=f"{len(queues_by_worker)} workers respond; queues without a worker: {', '.join(missing) or 'none'}.",
        action="Start a worker without --queues, or with those." if missing else "",
        guide="running.md#what-runs",
    )
    yield _beat()
    yield _periodic_tasks(now)


def _beat() -> Finding:
    """Return whether workers execute tasks: beat sends some every 2 s."""
    before, deadline = _executed(), time.monotonic() + _BEAT_SECONDS
    while time.monotonic() < deadline:
        time.sleep(0.5)
        if _executed() > before:
            return Finding(level=Level.OK, summary="Beat runs: workers executed tasks just now.")
    return Finding(
        level=Level.ERROR,
        summary=f"Workers executed no task within {_BEAT_SECONDS:g} s, in which beat sends several.",
        action="Start beat, once; if it runs, all workers are busy or blocked: read their logs.",
        guide=_RUNBOOK,
    )


def _periodic_tasks(now: datetime) -> Finding:
    late = [task for task in read_periodic_tasks(now) if task.is_late]
    names = ", ".join(task.name for task in late)
    return Finding(
        level=Level.OK if not late else Level.ERROR if any(task.is_urgent for task in late) else Level.WARNING,
        summary=f"Late periodic tasks: {names or 'none'}.",
        action="Start beat and workers for all queues, or more workers; read their logs." if late else "",
        guide=_RUNBOOK,
    )


def _executed() -> int:
    stats_by_worker: dict[str, Any] = app.control.inspect(timeout=_REPLY_SECONDS).stats() or {}
    return sum(sum(stats["total"].values()) for stats in stats_by_worker.values())


def queues(now: datetime) -> Iterator[Finding]:
    """Yield each leased queue's depth and age, and the rows that were given up."""
    given_up = {
        model.QUEUE: model.objects.in_state(QueueState.GIVEN_UP, now)[:MAX_DEPTH].count()
        for model in leased_queues()
        if hasattr(model, "GIVEN_UP")
    }
    for name, size in measure_queues(now).items():
        age = size.age_seconds(now)
        is_late = age > _LATE_SECONDS
        failed = given_up.get(name, 0)
        yield Finding(
            level=Level.WARNING if is_late else Level.OK,
            summary=f"{name}: {size.depth:,} due, the oldest for {age:,.0f} s; {failed:,} given up.",
            action="Start worker and beat, or more workers; read the log." if is_late else "",
            guide="repairing.md#queues",
        )
