"""Dashboard panel of the periodic tasks."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from redis.exceptions import RedisError

from config.operators.dashboard import Figure, Panel, time_ago
from config.workers.periodic_tasks import read_periodic_tasks


def periodic_tasks(now: datetime) -> Iterable[Panel]:
    """Yield the panel: how many run in time, and each late one."""
    try:
        tasks = read_periodic_tasks(now)
    except RedisError:
        figures = [Figure(label="Redis", value="no response", note="no task runs", is_alarming=True)]
    else:
        late = [task for task in tasks if task.is_late]
        figures = [Figure(label="In time", value=f"{len(tasks) - len(late)} of {len(tasks)}")]
        for task in late:
            last_run = None if task.age_seconds is None else now - timedelta(seconds=task.age_seconds)
            note = f"due every {task.period_seconds:g} s; are a worker and beat running?"
            figures.append(Figure(label=task.name, value=time_ago(last_run, now), note=note, is_alarming=True))
    yield Panel(title="Periodic tasks", figures=tuple(figures))
