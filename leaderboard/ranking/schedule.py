"""How often rankings are made, and which are due."""

from datetime import datetime, timedelta

from django.conf import settings

from leaderboard.models import Agent, Interval, Snapshot

# As often as what is due is looked for.
_TURN_SECONDS = 15


def due(now: datetime) -> list[Interval]:
    """The intervals whose ranking is to be made anew; none where there are no agents.

    Another one of all is the first at each turn. One ranking is made at a time, and those that find another being made
    are left to the next turn: neither the one that is due always nor one that always fails may keep the others out.
    """
    if not Agent.objects.exists():
        return []
    made = dict(Snapshot.objects.filter(is_current=True).values_list("interval", "computed_at"))
    first = int(now.timestamp()) // _TURN_SECONDS % len(Interval)
    in_turn = [*Interval][first:] + [*Interval][:first]
    return [interval for interval in in_turn if interval not in made or now - made[interval] >= period(interval)]


def period(interval: Interval) -> timedelta:
    """How often a ranking of the interval is made."""
    return timedelta(seconds=settings.LEADERBOARD_SECONDS[interval.value])
