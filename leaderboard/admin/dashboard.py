"""The panel of the operators' dashboard about the leaderboard: which rankings there are, and whether new ones come."""

from collections.abc import Iterable
from datetime import datetime

from django.urls import reverse

from config.operators.dashboard import Figure, Panel, ago
from leaderboard.models import Agent, Interval, Snapshot
from leaderboard.ranking.schedule import period

# A ranking that is so many times as old as it should become wants somebody: one may have been made in between.
_PATIENCE = 3


def rankings(now: datetime) -> Iterable[Panel]:
    """The current ranking of each interval; nothing where there are no agents."""
    if not Agent.objects.exists():
        return
    current = {snapshot.interval: snapshot for snapshot in Snapshot.objects.filter(is_current=True)}
    yield Panel(
        title="Leaderboard", figures=tuple(_ranking(interval, current.get(interval), now) for interval in Interval)
    )


def _ranking(interval: Interval, snapshot: Snapshot | None, now: datetime) -> Figure:
    page = f"{reverse('admin:leaderboard_standing_changelist')}?interval={interval}"
    if snapshot is None:
        return Figure(label=f"Last {interval}", value="none yet", note="a worker makes it", page=page)
    return Figure(
        label=f"Last {interval}",
        value=f"{snapshot.ranked:,} ranked",
        note=f"made {ago(snapshot.computed_at, now)}, in {snapshot.took_seconds:.1f} s",
        page=page,
        is_alarming=now - snapshot.computed_at > _PATIENCE * period(interval),
    )
