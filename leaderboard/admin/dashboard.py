"""Leaderboard dashboard panel: current rankings and their age."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils import timezone

from config.operators.dashboard import Figure, Panel, time_ago
from leaderboard.models import Agent, Interval, Snapshot
from leaderboard.ranking.schedule import refresh_period

# A ranking older than this many refresh periods is alarming; a single missed refresh is not.
_MAX_PERIODS = 3
# After downtime, the service rebuilds the rankings one by one. The web process starts with the other processes.
WEB_STARTED_AT = timezone.now()
_REBUILD_TIME = timedelta(minutes=5)


def ranking_panels(now: datetime) -> Iterable[Panel]:
    """Yield a panel with each interval's current ranking."""
    if not Agent.objects.exists():
        text = "No agent yet: add one, or give a partner a key with the scope agents; a worker then builds rankings."
        yield Panel(title="Leaderboard", empty_text=text)
        return
    current = {snapshot.interval: snapshot for snapshot in Snapshot.objects.filter(is_current=True)}
    yield Panel(
        title="Leaderboard", figures=tuple(_figure(interval, current.get(interval), now) for interval in Interval)
    )


def _figure(interval: Interval, snapshot: Snapshot | None, now: datetime) -> Figure:
    page = f"{reverse('admin:leaderboard_standing_changelist')}?interval={interval}"
    if snapshot is None:
        return Figure(label=f"Last {interval}", value="none yet", note="a worker will build it", page=page)
    note = f"built {time_ago(snapshot.computed_at, now)}, in {snapshot.took_seconds:.1f} s"
    is_old = now - snapshot.computed_at > _MAX_PERIODS * refresh_period(interval)
    is_start = now - WEB_STARTED_AT < _REBUILD_TIME
    return Figure(
        label=f"Last {interval}",
        value=f"{snapshot.ranked:,} ranked",
        note=f"{note}; the service has just started, a worker will build it anew" if is_old and is_start else note,
        page=page,
        is_alarming=is_old and not is_start,
    )
