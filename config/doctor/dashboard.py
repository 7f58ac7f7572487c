"""Dashboard panels that all apps share: the read replica and the periodic tasks."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from redis.exceptions import RedisError

from config.operators.dashboard import Figure, Panel, PanelSource, register_panels, time_ago
from config.postgresql.replica import has_replica, measure_replica
from config.workers.periodic_tasks import read_periodic_tasks

_NOTES = {
    "ok": "serves public reads",
    "lagging": "the primary serves its reads",
    "failed": "the primary serves its reads",
}


def read_replica(now: datetime) -> Iterable[Panel]:
    """Yield the replica's panel, if there is one."""
    if not has_replica():
        return
    state = measure_replica()
    lag = "no response" if state.lag_seconds is None else f"{state.lag_seconds:,.1f} s behind"
    figure = Figure(label="Read replica", value=lag, note=_NOTES[state.status], is_alarming=state.status != "ok")
    yield Panel(title="Read replica", figures=(figure,))


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


register_panels(
    PanelSource(sort_key=50, permission="tokens.view_chainhead", read=read_replica),
    PanelSource(sort_key=60, permission="tokens.view_indexrequest", read=periodic_tasks),
)
