"""Metrics of the leaderboard, for Prometheus: how old the current rankings are, and how long it took to make them."""

from collections.abc import Callable, Iterator
from datetime import datetime

from prometheus_client import Metric
from prometheus_client.metrics_core import GaugeMetricFamily

from leaderboard.models import Snapshot

_NUMBERS: tuple[tuple[str, str, Callable[[Snapshot, datetime], float]], ...] = (
    (
        "age_seconds",
        "How long ago the interval of the current ranking ended.",
        lambda snapshot, now: (now - snapshot.computed_at).total_seconds(),
    ),
    ("making_seconds", "How long it took to make it.", lambda snapshot, now: snapshot.took_seconds),
    ("ranked_agents", "How many agents have a rank in it.", lambda snapshot, now: snapshot.ranked),
)


def rankings(now: datetime) -> Iterator[Metric]:
    """The current ranking of each interval that has one."""
    current = list(Snapshot.objects.filter(is_current=True).order_by("interval"))
    for name, text, number in _NUMBERS:
        gauge = GaugeMetricFamily(f"launchboard_leaderboard_{name}", text, labels=["interval"])
        for snapshot in current:
            gauge.add_metric([snapshot.interval], number(snapshot, now))
        yield gauge
