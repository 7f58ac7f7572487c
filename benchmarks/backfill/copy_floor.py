"""The lower bound for filling tables: PostgreSQL's own COPY, with the same rows, indexes and triggers."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from psycopg import sql

from benchmarks.lists import dataset
from benchmarks.process_costs import database_cpu

_DATABASE = "copied"


@dataclass(frozen=True, kw_only=True)
class Copied:
    """The COPY's cost; the rows are as PostgreSQL writes them in its binary format."""

    seconds: float
    database_cpu_seconds: float
    mb: float


def time_copy(source: str, *, empty: str, tables: Mapping[str, str]) -> Copied:
    """Time a database's table rows, copied in turn in one transaction into an empty database's copy.

    `tables` have the column that sorts a table's rows.
    """
    dataset.make_empty(_DATABASE, template=empty)
    rows: dict[str, bytes] = {}
    with dataset.connect(source) as connection:
        for table, column in tables.items():
            statement = sql.SQL("COPY (SELECT * FROM {} ORDER BY {}) TO STDOUT (FORMAT binary)")
            named = statement.format(sql.Identifier(table), sql.Identifier(column))
            with connection.cursor().copy(named) as copy:
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
