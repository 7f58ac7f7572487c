"""Leaderboard Prometheus metrics: the current rankings' age and duration."""

from collections.abc import Callable, Iterator
from datetime import datetime

from prometheus_client import Metric

from config.watching.metrics import labelled_gauge
from leaderboard.models import Snapshot

_NUMBERS: tuple[tuple[str, str, Callable[[Snapshot, datetime], float]], ...] = (
    (
        "age_seconds",
        "Seconds since the end of the current ranking's interval.",
        lambda snapshot, now: (now - snapshot.computed_at).total_seconds(),
    ),
    ("making_seconds", "Seconds that building the current ranking took.", lambda snapshot, now: snapshot.took_seconds),
    ("ranked_agents", "Number of agents with a rank in the current ranking.", lambda snapshot, now: snapshot.ranked),
)


def ranking_metrics(now: datetime) -> Iterator[Metric]:
    """Yield gauges for each interval's current ranking, if it has one."""
    current = list(Snapshot.objects.filter(is_current=True).order_by("interval"))
    for name, text, number in _NUMBERS:
        values = {snapshot.interval: number(snapshot, now) for snapshot in current}
        yield labelled_gauge(f"launchboard_leaderboard_{name}", text, "interval", values)
