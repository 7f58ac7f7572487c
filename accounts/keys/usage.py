"""How much partner keys are used: counted in Redis while calls pass, and kept in rows by key, day and endpoint."""

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Sum
from django.utils import timezone

from accounts.models import KeyUsage, PartnerKey, UsageBatch
from config.redis import call_counts
from config.redis.call_counts import Batch

# What a crash left, and what came since.
_MOST_BATCHES = 2
# Longer than any copy of Redis is old that somebody would go back to.
_BATCHES_KEPT = timedelta(days=30)

# The ORM can replace a column of a row that is there, and not add to it.
_ADD = """
INSERT INTO accounts_keyusage AS usage (partner_key_id, day, endpoint, calls)
SELECT * FROM unnest(%s::bigint[], %s::date[], %s::text[], %s::bigint[])
ON CONFLICT (partner_key_id, day, endpoint) DO UPDATE SET calls = usage.calls + excluded.calls
"""


@dataclass(frozen=True)
class DayOfCalls:
    """How many calls one day (UTC) saw."""

    day: date
    calls: int


@dataclass(frozen=True)
class KeyCalls:
    """How many calls were made with one key."""

    key_id: int
    name: str
    calls: int


def store_counted() -> int:
    """Bring all calls that were counted until now into the rows, each exactly once; returns how many.

    May be killed at any instant and run several times at once: a batch leaves Redis when the database holds it together
    with its name, and a name adds its calls once. Raises CountsUnavailable; what is not stored then waits in Redis.
    """
    stored = 0
    for _ in range(_MOST_BATCHES):
        batch = call_counts.take()
        if batch is None:
            break
        stored += store(batch)
        call_counts.drop(batch)
    return stored


def store(batch: Batch) -> int:
    """Add the batch to the rows; returns how many calls it added: none where the batch was stored before."""
    with transaction.atomic():
        # Of two at once, the second waits here for the end of the first.
        _, is_new = UsageBatch.objects.get_or_create(name=batch.name)
        return _add(batch) if is_new else 0


def requests_of(key: PartnerKey, *, days: int = 30) -> tuple[list[DayOfCalls], list[tuple[str, int]]]:
    """The key's calls in each of the last days, today (UTC) the last one, and of each endpoint in all of them.

    Endpoints by the names of their routes, the busiest first. Calls of the last minute may be missing.
    """
    rows = KeyUsage.objects.filter(partner_key=key, day__gte=_last_days(days)[0])
    by_day: Counter[date] = Counter()
    by_endpoint: Counter[str] = Counter()
    for day, endpoint, calls in rows.order_by("endpoint").values_list("day", "endpoint", "calls"):
        by_day[day] += calls
        by_endpoint[endpoint] += calls
    return [DayOfCalls(day, by_day[day]) for day in _last_days(days)], by_endpoint.most_common()


def requests_of_all(*, days: int = 30) -> tuple[list[DayOfCalls], list[KeyCalls]]:
    """The calls of all keys together in each of the last days, and of each key in all of them, the busiest first."""
    rows = KeyUsage.objects.filter(day__gte=_last_days(days)[0])
    by_key: Counter[tuple[int, str]] = Counter()
    by_day: Counter[date] = Counter()
    for day, *key, calls in rows.values_list("day", "partner_key_id", "partner_key__name").annotate(Sum("calls")):
        by_day[day] += calls
        by_key[tuple(key)] += calls
    busiest = sorted(by_key.items(), key=lambda item: (-item[1], item[0]))
    return (
        [DayOfCalls(day, by_day[day]) for day in _last_days(days)],
        [KeyCalls(key_id, name, calls) for (key_id, name), calls in busiest],
    )


def _last_days(count: int) -> list[date]:
    today = timezone.now().date()
    return [today - timedelta(days=ago) for ago in reversed(range(count))]


def prune() -> int:
    """Delete the rows of days before the last KEY_USAGE_DAYS, and forget old batches; returns how many rows it were."""
    now = timezone.now()
    UsageBatch.objects.filter(added_at__lt=now - _BATCHES_KEPT).delete()
    pruned, _ = KeyUsage.objects.filter(day__lte=now.date() - timedelta(days=settings.KEY_USAGE_DAYS)).delete()
    return pruned


def _add(batch: Batch) -> int:
    known = set(PartnerKey.objects.filter(pk__in={calls.caller for calls in batch.counts}).values_list("pk", flat=True))
    # In order, so that two who add to the same rows don't wait for each other in a circle.
    rows = sorted((calls, number) for calls, number in batch.counts.items() if calls.caller in known)
    with connection.cursor() as cursor:
        cursor.execute(
            _ADD,
            [
                [calls.caller for calls, _ in rows],
                [calls.day for calls, _ in rows],
                [calls.endpoint for calls, _ in rows],
                [number for _, number in rows],
            ],
        )
    return sum(number for _, number in rows)
