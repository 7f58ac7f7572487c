"""Seeding the database with invented tokens, by COPY and on all CPUs, for trials at production size."""

from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.backends.utils import CursorWrapper

from config.events.outbox import leave_out_events
from config.postgresql.bulk_load import copy_into, reserve_ids
from development.sample_data.seeded_rows import BATCH, make_batches
from tokens.models import Market, SearchEntry, Token

# From this number on, building indexes and checking foreign keys at the end costs less than row by row.
REBUILD_FROM = 10_000
# Memory for building one index.
_BUILD_MEMORY = "512MB"
_TOKENS, _MARKETS = Token._meta.db_table, Market._meta.db_table
_TABLES = [_TOKENS, _MARKETS, SearchEntry._meta.db_table]

# Callback for the current stage, and the number of loaded tokens.
Report = Callable[[str, int], None]

# Statements that drop and recreate each index, except constraint indexes. A column's statistics target, which a
# migration may have set, is not part of an index's definition.
_INDEXES = """
SELECT
    format('DROP INDEX %%I', index.relname),
    pg_get_indexdef(index.oid),
    ARRAY(
        SELECT format('ALTER INDEX %%I ALTER COLUMN %%s SET STATISTICS %%s', index.relname, attnum, attstattarget)
        FROM pg_attribute WHERE attrelid = index.oid AND attstattarget >= 0
    )
FROM pg_index
JOIN pg_class AS index ON index.oid = indexrelid
WHERE indrelid = ANY(%s::regclass[]) AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
"""
# The same for foreign keys.
_FOREIGN_KEYS = """
SELECT
    format('ALTER TABLE %%s DROP CONSTRAINT %%I', conrelid::regclass, conname),
    format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', conrelid::regclass, conname, pg_get_constraintdef(oid)),
    ARRAY[]::text[]
FROM pg_constraint WHERE conrelid = ANY(%s::regclass[]) AND contype = 'f'
"""


class SeedingError(Exception):
    """The database already has tokens, or this seed's tokens; nothing was loaded."""


def load_synthetic_tokens(count: int, *, seed: int, add: bool, report: Report) -> None:
    """Load `count` invented tokens, two in five with market data, in one transaction.

    The same seed and count give the same rows, except for their ids. Reads of the tables block meanwhile. Raises
    SeedingError, for a database with other tokens unless `add` is set.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        leave_out_events()
        # In the same transaction, so that any failure restores the indexes.
        cursor.execute("SELECT set_config('statement_timeout', '0', true)")
        cursor.execute(f"LOCK TABLE {', '.join(_TABLES)} IN SHARE ROW EXCLUSIVE MODE")
        if not add and Token.objects.exists():
            raise SeedingError("there are tokens already: --add loads more beside them")
        rebuild = _drop_indexes(cursor) if count >= REBUILD_FROM else []
        try:
            _copy_tokens(cursor, count, seed=seed, report=report)
        except IntegrityError as error:
            raise SeedingError("the tokens of this seed are there already: choose another --seed") from error
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, true)", [_BUILD_MEMORY])
        for index_number, statement in enumerate(rebuild, start=1):
            report(f"indexing, {index_number} of {len(rebuild)}", count)
            cursor.execute(statement)
    report("analyzing", count)
    with connection.cursor() as cursor:
        # VACUUM sets the visibility map, which index-only counts need. Twice, because an older snapshot, such as
        # autovacuum's, excludes pages; the second pass processes only these.
        cursor.execute(f"VACUUM (ANALYZE) {', '.join(_TABLES)}")
        cursor.execute(f"VACUUM {', '.join(_TABLES)}")


def _drop_indexes(cursor: CursorWrapper) -> list[str]:
    """Drop indexes and foreign keys; return the statements that recreate them."""
    rows: list[tuple[str, str, list[str]]] = []
    for query in (_FOREIGN_KEYS, _INDEXES):
        cursor.execute(query, [_TABLES])
        rows += cursor.fetchall()
    for drop, _, _ in rows:
        cursor.execute(drop)
    return [statement for _, definition, further in rows for statement in (definition, *further)]


def _copy_tokens(cursor: CursorWrapper, count: int, *, seed: int, report: Report) -> None:
    report("loading", 0)
    batches = make_batches(
        count,
        seed=seed,
        reserve_ids=partial(reserve_ids, cursor, Token),
        chains_files=settings.CHAINS_FILES,
        solana_chain_id=settings.SOLANA_CHAIN_ID,
    )
    for number, (markets, tokens) in enumerate(batches, start=1):
        # A market row may precede its token, since the foreign key is checked later. The token's trigger then creates
        # no market.
        copy_into(cursor, _MARKETS, markets)
        copy_into(cursor, _TOKENS, tokens)
        report("loading", min(number * BATCH, count))
