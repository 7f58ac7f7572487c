"""Many rows into the database at once: by COPY, into a table or into a temporary one from which they are merged."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import orjson
from django.db import connection, models
from django.db.backends.utils import CursorWrapper
from psycopg import sql


# Rows as text for PostgreSQL's COPY. Pure.
@dataclass(frozen=True, slots=True)
class CopyText:
    """Rows in COPY's text format, and their columns."""

    columns: tuple[str, ...]
    text: bytes


def copy_text(rows: Iterable[Mapping[str, Any]]) -> CopyText:
    """Rows of column -> value as COPY takes them; all have the columns of the first one, in its order."""
    columns: tuple[str, ...] = ()
    lines = []
    for row in rows:
        columns = columns or tuple(row)
        lines.append(copy_line(row))
    return CopyText(columns, "".join(lines).encode())


def copy_line(row: Mapping[str, Any]) -> str:
    """One row. Dicts become JSON, lists of words that need no quotes become arrays."""
    # Addresses and hashes, which most values are, need no closer look.
    values = [value if type(value) is str and value.isalnum() else _value(value) for value in row.values()]
    return "\t".join(values) + "\n"


def _value(value: Any) -> str:
    if value is None:
        return r"\N"
    if isinstance(value, str):
        return _escape(value)
    if isinstance(value, dict):
        # JSON itself has no tab nor line break.
        return orjson.dumps(value).decode().replace("\\", "\\\\")
    if isinstance(value, list):
        return _escape("{" + ",".join(value) + "}")
    return str(value)


def _escape(text: str) -> str:
    """Without what COPY would take for the end of a value or of a row."""
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def copy_into(cursor: CursorWrapper, table: str, rows: CopyText) -> None:
    """Add rows to a table. Raises what Django's own statements raise: IntegrityError, OperationalError and the like."""
    if not rows.text:
        return
    columns = sql.SQL(", ").join(map(sql.Identifier, rows.columns))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), columns)
    # Django looks after the errors of statements, and not of this.
    with connection.wrap_database_errors, cursor.copy(statement) as copy:
        copy.write(rows.text)


def commit_lazily() -> None:
    """Have this database transaction end before the disk has it: the last ones are lost when the database crashes.

    Each is lost whole, and with all after it. So it is right where the progress that tells of the rows goes with them.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit TO off")


@contextmanager
def staged(cursor: CursorWrapper, name: str, types: Mapping[str, str], rows: CopyText) -> Iterator[None]:
    """The rows in a temporary table of this name while the block runs, in their order; `types` are its columns'.

    To be used in a database transaction, with which the table goes at the latest: a pool may give the connection to
    somebody else after it.
    """
    columns = ", ".join(f'"{column}" {kind}' for column, kind in types.items())
    # Long rows are not compressed here, because they are read back at once.
    cursor.execute(f"CREATE TEMPORARY TABLE {name} ({columns}) WITH (toast_tuple_target = 8160) ON COMMIT DROP")
    copy_into(cursor, name, rows)
    yield
    cursor.execute(f"DROP TABLE {name}")


def column_types(model: type[models.Model], columns: Iterable[str]) -> dict[str, str]:
    """Column -> its type in the model's table."""
    fields = {field.column: field for field in model._meta.concrete_fields}
    return {column: str(fields[column].db_type(connection)) for column in columns}


def names(columns: Iterable[str]) -> str:
    """Columns as a statement lists them."""
    return ", ".join(f'"{column}"' for column in columns)


def assignments(columns: Iterable[str]) -> str:
    """What ON CONFLICT DO UPDATE sets, so that these columns get the values that were to be inserted."""
    return ", ".join(f'"{column}" = EXCLUDED."{column}"' for column in columns)
