"""How often rankings are made, and which are due."""

from datetime import datetime, timedelta

from django.conf import settings

from leaderboard.models import Agent, Interval, Snapshot


def due(now: datetime) -> list[Interval]:
    """The intervals whose ranking is to be made anew; none where there are no agents."""
    if not Agent.objects.exists():
        return []
    made = dict(Snapshot.objects.filter(is_current=True).values_list("interval", "computed_at"))
    return [interval for interval in Interval if interval not in made or now - made[interval] >= period(interval)]


def period(interval: Interval) -> timedelta:
    """How often a ranking of the interval is made."""
    return timedelta(seconds=settings.LEADERBOARD_SECONDS[interval.value])
