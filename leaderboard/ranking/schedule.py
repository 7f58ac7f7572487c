"""Schedule of rankings: refresh periods, and the intervals that are due."""

from datetime import datetime, timedelta

from django.conf import settings

from leaderboard.models import Agent, Interval, Snapshot

# Period of the Celery beat that looks for due rankings.
_BEAT_SECONDS = 15


def due_intervals(now: datetime) -> list[Interval]:
    """Return the intervals with a due ranking; none if there are no agents.

    The list starts with another interval at each beat. One ranking is built at a time, and a beat that finds the lock
    taken defers to the next. Without the rotation, an interval that is always due or always fails would block the
    others.
    """
    if not Agent.objects.exists():
        return []
    computed = dict(Snapshot.objects.filter(is_current=True).values_list("interval", "computed_at"))
    first = int(now.timestamp()) // _BEAT_SECONDS % len(Interval)
    rotated = [*Interval][first:] + [*Interval][:first]
    return [
        interval
        for interval in rotated
        if interval not in computed or now - computed[interval] >= refresh_period(interval)
    ]


def refresh_period(interval: Interval) -> timedelta:
    """Return how often a ranking of the interval is built."""
    return timedelta(seconds=settings.LEADERBOARD_SECONDS[interval.value])
