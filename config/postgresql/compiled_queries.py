"""Statements that the ORM writes once and that are run often: compiling a queryset costs more than its query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection, connections
from django.db.models import Expression, Field, QuerySet
from psycopg import errors
from psycopg.types.datetime import TimestamptzLoader


class Slot(Expression):
    """A place in a queryset for a value that every run brings along."""

    def __init__(self, name: str, output_field: "Field[Any, Any]") -> None:
        super().__init__(output_field=output_field)
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:  # type: ignore[override]
        """A parameter whose value is this slot itself, by which `Statement.bind` finds its place."""
        return "%s", [self]


# A migration changed a column of the plan, or a pooler gave the connection's plans to others.
_LOST_PLANS = (errors.FeatureNotSupported, errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement)


def load_times_fast(cursor: Any) -> None:
    """Have a cursor read moments as psycopg does, in C: Django's own way sets the same time zone by a slower one."""
    cursor.adapters.register_loader("timestamptz", TimestamptzLoader)


@dataclass(frozen=True)
class Statement:
    """SQL with its parameters, some of which may be slots."""

    sql: str
    parameters: tuple[Any, ...]

    @classmethod
    def of(cls, queryset: "QuerySet[Any, Any]") -> "Statement":
        """What the queryset would run."""
        sql, parameters = queryset.query.sql_with_params()
        return cls(sql, tuple(parameters))

    def bind(self, **values: Any) -> tuple[Any, ...]:
        """The parameters with the slots' values, by the slots' names."""
        return tuple(values[part.name] if isinstance(part, Slot) else part for part in self.parameters)

    def fetch(self, **values: Any) -> Sequence[tuple[Any, ...]]:
        """All rows, as PostgreSQL's driver reads them: JSON is still text."""
        return self._fetch(connection.cursor(), values)

    def fetch_prepared(self, **values: Any) -> Sequence[tuple[Any, ...]]:
        """The same by a plan that PostgreSQL keeps, which must be right for all values."""
        database: Any = connections[DEFAULT_DB_ALIAS]
        try:
            return self._fetch(database.prepared_cursor(), values)
        except DatabaseError as error:
            if database.in_atomic_block or not isinstance(error.__cause__, _LOST_PLANS):
                raise
        # What was prepared is gone or out of date: on a new connection nothing is.
        database.close()
        return self.fetch(**values)

    def _fetch(self, opened: Any, values: dict[str, Any]) -> Sequence[tuple[Any, ...]]:
        with opened as cursor:
            load_times_fast(cursor)
            cursor.execute(self.sql, self.bind(**values))
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
