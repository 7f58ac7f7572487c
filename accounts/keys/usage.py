"""Partner key usage: counted in Redis per request, stored in rows by key, day and endpoint."""

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Sum
from django.utils import timezone

from accounts.models import KeyUsage, PartnerKey, UsageBatch
from config.redis import call_counts
from config.redis.call_counts import CountBatch

# The batch that a crash left, and the one counted since.
_MAX_BATCHES = 2
# Older Redis backups are not restored.
_BATCHES_KEPT = timedelta(days=30)

# The ORM's upsert can replace a column in an existing row, but not add to it.
_ADD = """
INSERT INTO accounts_keyusage AS usage (partner_key_id, day, endpoint, calls)
SELECT * FROM unnest(%s::bigint[], %s::date[], %s::text[], %s::bigint[])
ON CONFLICT (partner_key_id, day, endpoint) DO UPDATE SET calls = usage.calls + excluded.calls
"""


@dataclass(frozen=True)
class DayOfCalls:
    """Number of calls on one day (UTC)."""

    day: date
    calls: int


@dataclass(frozen=True)
class KeyCalls:
    """Number of calls with one key."""

    key_id: int
    name: str
    calls: int


def store_counted() -> int:
    """Store all calls counted until now, each exactly once, and return their number.

    Safe to kill at any time and to run concurrently. A batch is deleted from Redis after the database has stored it
    with its name, and a name adds its calls once. Raises CountsUnavailableError; calls not stored by then stay in
    Redis.
    """
    call_count = 0
    for _ in range(_MAX_BATCHES):
        batch = call_counts.take_batch()
        if batch is None:
            break
        call_count += store_batch(batch)
        call_counts.drop_batch(batch)
    return call_count


def store_batch(batch: CountBatch) -> int:
    """Add the batch to the rows and return the number of calls added; 0 if it was stored before."""
    with transaction.atomic():
        # If two transactions run at once, the second blocks here until the first has ended.
        _, is_new = UsageBatch.objects.get_or_create(name=batch.name)
        return _add(batch) if is_new else 0


def calls_of_key(key: PartnerKey, *, days: int = 30) -> tuple[list[DayOfCalls], list[tuple[str, int]]]:
    """Return the key's calls per day, today (UTC) last, and per endpoint over all those days.

    Endpoints are route names, busiest first. The last minute's calls may be missing.
    """
    rows = KeyUsage.objects.filter(partner_key=key, day__gte=_last_days(days)[0])
    by_day: Counter[date] = Counter()
    by_endpoint: Counter[str] = Counter()
    for day, endpoint, calls in rows.order_by("endpoint").values_list("day", "endpoint", "calls"):
        by_day[day] += calls
        by_endpoint[endpoint] += calls
    return [DayOfCalls(day, by_day[day]) for day in _last_days(days)], by_endpoint.most_common()


def calls_of_all_keys(*, days: int = 30) -> tuple[list[DayOfCalls], list[KeyCalls]]:
    """Return the calls per day over all keys, and the total per key over these days, busiest first."""
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


def prune_usage() -> int:
    """Delete usage older than KEY_USAGE_DAYS and old batch names; return the number of deleted usage rows."""
    now = timezone.now()
    UsageBatch.objects.filter(added_at__lt=now - _BATCHES_KEPT).delete()
    pruned, _ = KeyUsage.objects.filter(day__lte=now.date() - timedelta(days=settings.KEY_USAGE_DAYS)).delete()
    return pruned


def _add(batch: CountBatch) -> int:
    key_ids = set(PartnerKey.objects.filter(pk__in={call.caller for call in batch.counts}).values_list("pk", flat=True))
    # Sorted, so that concurrent transactions on the same rows don't deadlock.
    rows = sorted((calls, number) for calls, number in batch.counts.items() if calls.caller in key_ids)
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
