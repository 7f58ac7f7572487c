"""The floor of a backfill: PostgreSQL's own COPY of the same rows into the same tables, indexes and triggers."""

import time
from dataclasses import dataclass

from psycopg import sql

from benchmarks import dataset
from benchmarks.process_costs import database_cpu

_DATABASE = "backfill_copied"
# What a backfill writes itself; triggers write search entries and markets.
_TABLES = ("tokens_token", "tokens_launchfacts", "tokens_tokenevent", "accounts_socialprofile")


@dataclass(frozen=True, kw_only=True)
class Copied:
    """What the COPY took; the rows are as PostgreSQL writes them in its binary format."""

    seconds: float
    database_cpu_seconds: float
    mb: float


def time_copy(source: str, *, empty: str) -> Copied:
    """The rows of a database, copied in one transaction into a copy of an empty one."""
    dataset.make_empty(_DATABASE, template=empty)
    rows: dict[str, bytes] = {}
    with dataset.connect(source) as connection:
        for table in _TABLES:
            statement = sql.SQL("COPY (SELECT * FROM {} ORDER BY 1) TO STDOUT (FORMAT binary)")
            with connection.cursor().copy(statement.format(sql.Identifier(table))) as copy:
                rows[table] = b"".join(bytes(part) for part in copy)
    before, started = database_cpu(), time.monotonic()
    with dataset.connect(_DATABASE) as connection, connection.transaction():
        for table, content in rows.items():
            statement = sql.SQL("COPY {} FROM STDIN (FORMAT binary)")
            with connection.cursor().copy(statement.format(sql.Identifier(table))) as copy:
                copy.write(content)
    return Copied(
        seconds=time.monotonic() - started,
        database_cpu_seconds=database_cpu() - before,
        mb=sum(map(len, rows.values())) / 2**20,
    )
