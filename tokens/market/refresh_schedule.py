"""Schedule of market refreshes: priority classes and their intervals.

| priority | tokens                        | interval  |
|----------|-------------------------------|-----------|
| 0        | viewed in the last 10 minutes | 60 s      |
| 1        | launched in the last day      | 2 minutes |
| 2        | traded in the last day        | 5 minutes |
| 3        | all others                    | 1 day     |

The intervals are targets: the provider's rate limit bounds the number of refreshes. Due rows with the smaller priority
are refreshed first, except in calls that start with another class. Tokens without data are retried with exponential
back-off, from 2 minutes for a fresh launch and from 1 hour for others, up to 4 weeks.
"""

from datetime import datetime, timedelta

from config.http.backoff import Backoff
from tokens.models.market import FRESH_WITHIN, RefreshPriority

VIEWED_WITHIN = timedelta(minutes=10)

# A worker that stores nothing within its lease has crashed.
LEASE = timedelta(seconds=60)
# Delay for rows that the provider rejected, and for chains that it does not cover.
REJECTED_BACKOFF = timedelta(hours=1)
NO_NETWORK_BACKOFF = timedelta(days=7)
# Maximum back-off of a viewed token.
MAX_VIEWED_MISS_BACKOFF = timedelta(hours=1)

# Up to four weeks.
_MISS_BACKOFF = Backoff(first=3600, longest=2_419_200)
_FRESH_MISS_BACKOFF = Backoff(first=120, longest=2_419_200)
# From here on the back-off is the maximum.
MAX_MISSES = 20


INTERVALS = {
    RefreshPriority.VIEWED: timedelta(seconds=60),
    RefreshPriority.FRESH: timedelta(minutes=2),
    RefreshPriority.TRADED: timedelta(minutes=5),
    RefreshPriority.OTHER: timedelta(days=1),
}


# The first priority of successive calls. A client that walks a list may view more tokens than the rate limit can
# refresh, and a call covers one network even if few of its tokens are due: each class has calls of its own nonetheless.
_FIRST_PRIORITIES = (
    RefreshPriority.VIEWED,
    RefreshPriority.FRESH,
    RefreshPriority.VIEWED,
    RefreshPriority.TRADED,
    RefreshPriority.VIEWED,
    RefreshPriority.FRESH,
    RefreshPriority.VIEWED,
    RefreshPriority.OTHER,
)


def priorities_of_call(number: int) -> list[RefreshPriority]:
    """Return the sequence of priorities in which the call with this number claims rows."""
    lead = _FIRST_PRIORITIES[number % len(_FIRST_PRIORITIES)]
    return [lead, *(priority for priority in RefreshPriority if priority != lead)]


def refresh_priority(
    now: datetime, *, viewed_at: datetime | None, deployed_at: datetime, tx_count_24h: int | None
) -> RefreshPriority:
    """Return the first priority class that applies to a token."""
    if viewed_at and now - viewed_at < VIEWED_WITHIN:
        return RefreshPriority.VIEWED
    if now - deployed_at < FRESH_WITHIN:
        return RefreshPriority.FRESH
    return RefreshPriority.TRADED if tx_count_24h else RefreshPriority.OTHER


def backoff_after_miss(misses: int, *, fresh: bool) -> timedelta:
    """Return the delay after `misses` consecutive refreshes without data; `fresh`: launched within FRESH_WITHIN."""
    return timedelta(seconds=(_FRESH_MISS_BACKOFF if fresh else _MISS_BACKOFF).delay(misses))
