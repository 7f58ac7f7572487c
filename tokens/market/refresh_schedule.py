"""When the market-data provider is asked for a token again: the one place with the classes and their intervals.

| priority | tokens                       | asked every |
|----------|------------------------------|-------------|
| 0        | viewed in the last 10 minutes | 60 s       |
| 1        | launched in the last day     | 2 minutes   |
| 2        | traded in the last day       | 5 minutes   |
| 3        | all others                   | day         |

These are wishes: the provider's limit decides how many of those that are due are asked for, and the smaller priority
goes first, but for the calls that another class leads. What the provider doesn't know is asked for after pauses that
double, from minutes for a fresh launch and from an hour for others, up to four weeks.
"""

from datetime import datetime, timedelta
from enum import IntEnum

VIEWED_WITHIN = timedelta(minutes=10)
FRESH_WITHIN = timedelta(days=1)

# A worker that asked and said nothing for so long is taken for dead.
LEASE = timedelta(seconds=60)
# What the provider refused, and chains that it doesn't have.
REFUSED_PAUSE = timedelta(hours=1)
NO_NETWORK_PAUSE = timedelta(days=7)
# However often it was missed, a token that somebody looks at is asked for within this time.
VIEWED_MISS_PAUSE = timedelta(hours=1)

_FIRST_MISS_PAUSE = timedelta(hours=1)
_FIRST_FRESH_MISS_PAUSE = timedelta(minutes=2)
_LONGEST_MISS_PAUSE = timedelta(weeks=4)
# Beyond it every pause is the longest.
MOST_MISSES = 20


class Priority(IntEnum):
    """Who comes first. The trigger of migration 0002 knows FRESH and OTHER, too."""

    VIEWED = 0
    FRESH = 1
    TRADED = 2
    OTHER = 3


INTERVALS = {
    Priority.VIEWED: timedelta(seconds=60),
    Priority.FRESH: timedelta(minutes=2),
    Priority.TRADED: timedelta(minutes=5),
    Priority.OTHER: timedelta(days=1),
}


# Whose rows come first in one call after the other. Anybody can walk a list and so view more tokens than the limit has
# room for, and a call is for one chain's network, however few tokens of it are due: all others have their calls anyway.
_LEADS = (
    Priority.VIEWED,
    Priority.FRESH,
    Priority.VIEWED,
    Priority.TRADED,
    Priority.VIEWED,
    Priority.FRESH,
    Priority.VIEWED,
    Priority.OTHER,
)


def order_of_call(number: int) -> list[Priority]:
    """The priorities in the order in which the call of this number takes their rows."""
    lead = _LEADS[number % len(_LEADS)]
    return [lead, *(priority for priority in Priority if priority != lead)]


def priority(now: datetime, *, viewed_at: datetime | None, deployed_at: datetime, tx_count_24h: int | None) -> Priority:
    """The first class that a token belongs to."""
    if viewed_at and now - viewed_at < VIEWED_WITHIN:
        return Priority.VIEWED
    if now - deployed_at < FRESH_WITHIN:
        return Priority.FRESH
    return Priority.TRADED if tx_count_24h else Priority.OTHER


def pause_after_miss(misses: int, *, fresh: bool) -> timedelta:
    """How long to wait after the provider knew nothing so many times in a row; `fresh` is launched in the last day."""
    first = _FIRST_FRESH_MISS_PAUSE if fresh else _FIRST_MISS_PAUSE
    doubled: int = 2 ** (min(misses, MOST_MISSES) - 1)
    return min(first * doubled, _LONGEST_MISS_PAUSE)
