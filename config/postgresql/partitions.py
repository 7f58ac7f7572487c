"""Weekly table partitions: created before rows are written, dropped after their retention.

PARTITIONED_TABLES names the tables.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.utils.module_loading import import_string

from config.postgresql.advisory_locks import advisory_lock_key, session_lock, take_transaction_lock
from config.postgresql.pooler import new_direct_connection
from config.postgresql.timeouts import statement_timeout

logger = logging.getLogger(__name__)

_WEEK = timedelta(days=7)
# A partition that is needed within this time is missing.
_NEEDED = timedelta(days=2)
# Readers are never blocked, but a long maintenance command on the table would block a writer.
_LOCK_TIMEOUT = "2s"

_LIST = """
SELECT child.relname, inherits.inhrelid IS NOT NULL, COALESCE(inherits.inhdetachpending, false),
    pg_total_relation_size(child.oid), NULLIF(child.reltuples, -1)::bigint
FROM pg_class AS child LEFT JOIN pg_inherits AS inherits ON inherits.inhrelid = child.oid
WHERE child.relkind = 'r' AND child.relnamespace = 'public'::regnamespace AND child.relname ~ %s
ORDER BY child.relname
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class PartitionedTable:
    """A table with weekly partitions by time."""

    name: str
    # Plural name for operators.
    title: str
    # Retention in days, rounded up to weeks; 0 keeps rows for good.
    days: Callable[[], int]

    def oldest_week(self, now: datetime) -> datetime | None:
        """Return when the first week with rows begins; None if rows are kept for good."""
        days = self.days()
        return week_of(now - timedelta(days=days)) if days else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Partition:
    """One table partition. `is_attached` is False after an interrupted removal."""

    table: str
    first_at: datetime
    size_bytes: int
    # As estimated by PostgreSQL; None before its first ANALYZE.
    rows: int | None
    is_attached: bool
    # A removal was interrupted in its first half.
    is_detaching: bool

    @property
    def name(self) -> str:
        return _name(self.table, self.first_at)


@dataclass(frozen=True, kw_only=True, slots=True)
class PartitionState:
    """All partitions, and the work that maintenance has not done yet."""

    partitions: tuple[Partition, ...]
    # Names of partitions: missing for the next two days' rows, and past their retention.
    missing: tuple[str, ...]
    expired: tuple[str, ...]


def partitioned_tables() -> tuple[PartitionedTable, ...]:
    """Return all partitioned tables."""
    return tuple(import_string(path) for path in settings.PARTITIONED_TABLES)


def week_of(moment: datetime) -> datetime:
    """Return when the week begins: Monday, UTC."""
    midnight = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=midnight.weekday())


def ensure_partitions(tables: Iterable[PartitionedTable], times: Iterable[datetime], *, now: datetime) -> list[str]:
    """Create the missing partitions for rows with these times; return the partitions' names.

    The tables' readers and writers are not blocked: a partition is created as a separate table and attached. The
    database is queried at each call, because a transaction that created some may be rolled back. Run in a transaction.
    """
    specification_by_name = dict(_wanted(tables, times, now))
    with connection.cursor() as cursor:
        missing = _missing(cursor, specification_by_name)
        if missing:
            # The other chains' writers may create the same partitions.
            take_transaction_lock(advisory_lock_key("partitions"))
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [_LOCK_TIMEOUT])
            missing = _missing(cursor, specification_by_name)
            for name in missing:
                _attach(cursor, name, *specification_by_name[name])
            cursor.execute("SET LOCAL lock_timeout TO DEFAULT")
    return missing


def maintain_partitions(now: datetime, *, timeout_ms: int = 0) -> tuple[list[str], list[str]]:
    """Create this week's and the next two weeks' partitions, and drop the partitions past their retention.

    Return the names created and the names dropped. Raises LockHeldError while another process does it, and
    OperationalError after a statement that takes `timeout_ms` milliseconds; 0 is no limit. Run outside a transaction.
    """
    with session_lock(advisory_lock_key("maintenance of partitions")):
        with statement_timeout(milliseconds=timeout_ms):
            created = ensure_partitions(partitioned_tables(), [now, now + _WEEK, now + 2 * _WEEK], now=now)
        dropped = [partition for partition in list_partitions() if _is_expired(partition, now)]
        if dropped:
            _drop(dropped, timeout_ms)
    return created, [partition.name for partition in dropped]


def list_partitions() -> list[Partition]:
    """Return all partitions by table and time, also after an interrupted removal."""
    with connection.cursor() as cursor:
        cursor.execute(_LIST, [f"^({'|'.join(table.name for table in partitioned_tables())})_[0-9]{{8}}$"])
        rows = cursor.fetchall()
    partitions = []
    for name, is_attached, is_detaching, size, estimate in rows:
        table, _, monday = name.rpartition("_")
        partitions.append(
            Partition(
                table=table,
                first_at=datetime.strptime(monday, "%Y%m%d").replace(tzinfo=UTC),
                size_bytes=size,
                rows=estimate,
                is_attached=is_attached,
                is_detaching=is_detaching,
            )
        )
    return partitions


def read_partition_state(now: datetime) -> PartitionState:
    """Return the partitions, and what maintenance should have created or dropped."""
    partitions = tuple(list_partitions())
    attached = {partition.name for partition in partitions if partition.is_attached}
    created_tables = {partition.table for partition in partitions}
    # A table needs no partition before its first row.
    tables = [table for table in partitioned_tables() if table.name in created_tables]
    # Maintenance creates partitions weeks ahead. A table that has just got its first row waits for the next run.
    specifications = _wanted(tables, [now, now + _NEEDED], now)
    return PartitionState(
        partitions=partitions,
        missing=tuple(name for name, _ in specifications if name not in attached),
        # A partition expires when a week begins, and maintenance has a day to drop it.
        expired=tuple(partition.name for partition in partitions if _is_expired(partition, now - timedelta(days=1))),
    )


def _wanted(
    tables: Iterable[PartitionedTable], times: Iterable[datetime], now: datetime
) -> Iterator[tuple[str, tuple[str, datetime]]]:
    """Yield each unexpired partition for these times: its name, its table and when it begins."""
    weeks = sorted({week_of(time) for time in times})
    for table in tables:
        oldest = table.oldest_week(now)
        for week in weeks:
            if oldest is None or week >= oldest:
                yield _name(table.name, week), (table.name, week)


def _missing(cursor: CursorWrapper, names: Iterable[str]) -> list[str]:
    cursor.execute("SELECT name FROM unnest(%s::text[]) AS name WHERE to_regclass(name) IS NULL", [list(names)])
    return [name for (name,) in cursor.fetchall()]


def _attach(cursor: CursorWrapper, name: str, table: str, first_at: datetime) -> None:
    cursor.execute(f"CREATE TABLE {name} (LIKE {table} INCLUDING ALL)")
    bounds = [first_at, first_at + _WEEK]
    cursor.execute(f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM (%s) TO (%s)", bounds)


def _is_expired(partition: Partition, now: datetime) -> bool:
    (oldest,) = [table.oldest_week(now) for table in partitioned_tables() if table.name == partition.table]
    return oldest is not None and partition.first_at < oldest


def _drop(partitions: Iterable[Partition], timeout_ms: int) -> None:
    """Drop partitions without blocking the tables' readers; continue interrupted removals."""
    # A removal can't run in a transaction, and only a session keeps a timeout across statements.
    with closing(new_direct_connection()) as database, database.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, false)", [str(timeout_ms)])
        for partition in partitions:
            if partition.is_attached:
                how = "FINALIZE" if partition.is_detaching else "CONCURRENTLY"
                cursor.execute(f"ALTER TABLE {partition.table} DETACH PARTITION {partition.name} {how}")
            cursor.execute(f"DROP TABLE {partition.name}")


def _name(table: str, first_at: datetime) -> str:
    return f"{table}_{first_at:%Y%m%d}"
