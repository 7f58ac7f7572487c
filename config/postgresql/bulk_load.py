"""Bulk loading with COPY: rows in COPY's text format, into a table, or into a temporary table for a merge."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import NoneType
from typing import Any

import orjson
from django.db import connection, models
from django.db.backends.utils import CursorWrapper
from psycopg import sql


@dataclass(frozen=True, slots=True)
class CopyText:
    """Rows in COPY's text format, and their columns."""

    columns: tuple[str, ...]
    text: bytes


def format_copy_rows(rows: Iterable[Mapping[str, Any]]) -> CopyText:
    """Format rows (column -> value) for COPY; all have the first row's columns, in the same order."""
    columns: tuple[str, ...] = ()
    lines = []
    for row in rows:
        columns = columns or tuple(row)
        lines.append(format_copy_row(row))
    return CopyText(columns, "".join(lines).encode())


def format_copy_row(row: Mapping[str, Any]) -> str:
    """Format one row. Dicts become JSON; lists become arrays, and their words must need no quotes."""
    # Fast path for addresses and hashes, which most values are.
    values = [
        value if type(value) is str and value.isalnum() else _FORMATS.get(type(value), _format_text)(value)
        for value in row.values()
    ]
    return "\t".join(values) + "\n"


def _format_text(value: object) -> str:
    """Escape the characters that end a value or a row in COPY."""
    text = str(value)
    if text.isprintable() and "\\" not in text:
        return text
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _format_json(value: dict[str, Any]) -> str:
    # JSON text has no tab nor line break.
    return orjson.dumps(value).decode().replace("\\", "\\\\")


# By type, because a row has dozens of values. Values with other types become text.
_FORMATS: Mapping[type, Callable[[Any], str]] = {
    NoneType: lambda _: r"\N",
    bool: str,
    int: str,
    dict: _format_json,
    list: lambda words: _format_text("{" + ",".join(words) + "}"),
}


def copy_into(cursor: CursorWrapper, table: str, rows: CopyText) -> None:
    """Add rows to a table. Raises Django's database errors, such as IntegrityError and OperationalError."""
    if not rows.text:
        return
    columns = sql.SQL(", ").join(map(sql.Identifier, rows.columns))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), columns)
    # Django converts the errors of statements, but not of `copy`.
    with connection.wrap_database_errors, cursor.copy(statement) as copy:
        copy.write(rows.text)


def reserve_ids(cursor: CursorWrapper, model: type[models.Model], count: int) -> list[int]:
    """Return `count` unused ids for the model's table, in ascending order."""
    statement = "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)"
    cursor.execute(statement, [model._meta.db_table, count])
    return [number for (number,) in cursor.fetchall()]


def tune_bulk_transaction() -> None:
    """Make this transaction commit asynchronously, and sort up to 64 MB in memory.

    A database crash loses the last commits, each as a whole, with all later ones. That is safe if the rows' progress is
    stored in the same transaction, or in a later one.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO off")
        cursor.execute("SET LOCAL work_mem TO '64MB'")


@contextmanager
def staging_table(cursor: CursorWrapper, name: str, types: Mapping[str, str], rows: CopyText) -> Iterator[None]:
    """Load the rows, in order, into the temporary table `name` while the block runs; `types` maps column to type.

    Use it in a transaction: the table is dropped at its end at the latest, because a pool may reuse the connection.
    """
    columns = ", ".join(f'"{column}" {kind}' for column, kind in types.items())
    # Long rows are not compressed, because they are read back at once.
    cursor.execute(f"CREATE TEMPORARY TABLE {name} ({columns}) WITH (toast_tuple_target = 8160) ON COMMIT DROP")
    copy_into(cursor, name, rows)
    yield
    cursor.execute(f"DROP TABLE {name}")


def column_types(model: type[models.Model], columns: Iterable[str]) -> dict[str, str]:
    """Return column -> its type in the model's table."""
    fields = {field.column: field for field in model._meta.concrete_fields}
    return {column: str(fields[column].db_type(connection)) for column in columns}


def array_literal(values: Iterable[object]) -> str:
    """Return values as the text of an array, to be cast to its type: psycopg takes microseconds for each element."""
    elements = ["NULL" if value is None else f'"{_escape_element(str(value))}"' for value in values]
    return f"{{{','.join(elements)}}}"


def _escape_element(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def column_list(columns: Iterable[str]) -> str:
    """Return the columns as a list in SQL."""
    return ", ".join(f'"{column}"' for column in columns)


def upsert_assignments(columns: Iterable[str]) -> str:
    """Return the assignments of ON CONFLICT DO UPDATE that set these columns to the inserted values."""
    return ", ".join(f'"{column}" = EXCLUDED."{column}"' for column in columns)
