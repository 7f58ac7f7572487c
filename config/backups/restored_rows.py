"""Changes to restored rows in all tables: ids that were assigned after the backup, and worker leases."""

from collections.abc import Iterator

from django.db import connection
from django.utils import timezone
from psycopg import sql

from config.postgresql.leased_queue import leased_queues

# By type: far more than an installation writes between two backups. Ids stay exact in JavaScript for millions of
# restores; ids for operators and their permissions have 32 bits.
ADVANCE = {"bigint": 1_000_000_000, "integer": 1_000_000}

_SEQUENCES = """
SELECT sequencename, data_type::text FROM pg_sequences WHERE schemaname = 'public' AND data_type::text = ANY(%s)
ORDER BY 1
"""
_ADVANCE = "SELECT setval({name}, (SELECT last_value FROM {sequence}) + {advance})"


def advance_sequences() -> Iterator[str]:
    """Skip the ids that rows after the backup may have got.

    They are also stored outside the database: event cursors, ids of tokens, endpoints and deliveries, and messages in
    Redis. A reused id would mean another row there.
    """
    with connection.cursor() as cursor:
        cursor.execute(_SEQUENCES, [list(ADVANCE)])
        for name, data_type in cursor.fetchall():
            sequence = sql.Identifier("public", name)
            advance = ADVANCE[data_type]
            literal = sql.Literal(sequence.as_string(None))
            cursor.execute(sql.SQL(_ADVANCE).format(name=literal, sequence=sequence, advance=sql.Literal(advance)))
    yield (
        f"New rows and events have ids that are at least {ADVANCE['bigint']:,} higher, so that no id is used again:"
        " subscribers go on from any id that they have."
    )


def release_leases() -> Iterator[str]:
    """End the leases that workers held at the backup: their rows are due at once, and no attempt counts."""
    models = [model for model in leased_queues() if hasattr(model, "leased_until")]
    now = timezone.now()
    count = sum(model.objects.queued().filter(leased_until__isnull=False).release(due_at=now) for model in models)
    yield f"{count:,} rows of queues were claimed by workers at that time: they are due."
