"""Event publication: committed outbox rows get numbers in one sequence, from which subscribers read on.

Transactions commit in another sequence than they draw ids. A reader that continues after the largest visible id would
skip an id that is committed later. So events get their number after their commit, by one publisher at a time. A number
is visible only with all smaller ones.
"""

import json
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Min
from django.utils import timezone
from psycopg import sql

from config.events.event_types import ADDED_BY, event_types
from config.events.models import STREAM_ONLY_INTERVAL, Event, OutboxEvent
from config.postgresql.advisory_locks import advisory_lock_key, try_transaction_lock
from config.postgresql.compiled_queries import CompiledQuery
from config.postgresql.leased_queue import MAX_DEPTH, QueueSize
from config.postgresql.partitions import PartitionedTable, ensure_partitions

EVENTS = PartitionedTable(name=Event._meta.db_table, title="events", days=lambda: settings.EVENT_DAYS)
# The publisher numbers this many events in one transaction.
BATCH_SIZE = 1_000

_COLUMNS = sql.SQL("type, version, chain_id, subject, audience, owner_id, created_at")
# Published data never changes: a message that is sent again has the same body. The outer sort decides the numbers: a
# sequence's values are computed after it. Among the events that only the stream sends, the last one with each type and
# chain is published, at most once in their interval.
_PUBLISH = (
    sql.SQL("""
WITH taken AS (
    DELETE FROM events_outboxevent
    WHERE id IN (
        SELECT id FROM events_outboxevent
        WHERE audience <> 'stream' OR EXISTS (
            SELECT FROM events_outboxevent
            WHERE audience = 'stream' AND created_at <= statement_timestamp() - %(seconds)s * interval '1 second'
        )
        ORDER BY id LIMIT %(most)s
    )
    RETURNING id, {columns}, data
)
INSERT INTO events_event (id, {columns}, data, published_at)
SELECT nextval('events_event_numbers'), {columns},
    data || coalesce(%(added)s::jsonb #> ARRAY[type, data ->> {added_by}], '{{}}'), %(now)s
FROM (
    SELECT *, lead(id) OVER (PARTITION BY audience, type, chain_id ORDER BY id) AS later FROM taken ORDER BY id
) AS taken
WHERE audience <> 'stream' OR later IS NULL
RETURNING id
""")
    .format(columns=_COLUMNS, added_by=ADDED_BY)
    .as_string()
)
# Each list request runs it: prepared, it takes a quarter of the ORM's time.
_NEWEST = CompiledQuery("SELECT max(id) FROM events_event", ())


def publish_events() -> range:
    """Assign numbers to committed events, at most BATCH_SIZE. Return them; none while another process publishes."""
    if not OutboxEvent.objects.due().exists():
        return range(0)
    with transaction.atomic():
        # The statement below begins after the lock was granted, so it sees all that its last holder has committed.
        if not try_transaction_lock(advisory_lock_key("publication of events")):
            return range(0)
        now = timezone.now()
        ensure_partitions([EVENTS], [now], now=now)
        with connection.cursor() as cursor:
            added_by_type = {name: event_type.added() for name, event_type in event_types().items() if event_type.added}
            values: dict[str, Any] = {"most": BATCH_SIZE, "now": now, "seconds": STREAM_ONLY_INTERVAL.total_seconds()}
            cursor.execute(_PUBLISH, values | {"added": json.dumps(added_by_type)})
            numbers = [number for (number,) in cursor.fetchall()]
        # No other process takes numbers from the sequence meanwhile.
        return range(numbers[0], numbers[-1] + 1) if numbers else range(0)


def leave_out_events() -> None:
    """Store no events for this database transaction's changes."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL launchboard.events = 'off'")


def newest_event_id() -> int:
    """Return the newest event's id, on the connection for reads; 0 if there is none."""
    newest: int | None = _NEWEST.fetch_prepared()[0][0]
    return newest or 0


def oldest_event_id() -> int:
    """Return the oldest stored event's id; 0 if there is none."""
    oldest: int | None = Event.objects.aggregate(oldest=Min("id"))["oldest"]
    return oldest or 0


def measure_outbox(now: datetime) -> QueueSize:
    """Return how many events are not published yet, up to MAX_DEPTH, and the oldest one's time."""
    times = OutboxEvent.objects.due().order_by("id").values_list("created_at", flat=True)[:MAX_DEPTH]
    creation_times = list(times)
    return QueueSize(depth=len(creation_times), since=min(creation_times, default=None))
