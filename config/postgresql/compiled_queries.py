"""Queries that Django compiles once: compiling takes longer than the query itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError
from django.db.models import Expression, Field, QuerySet
from psycopg import errors
from psycopg.types.datetime import TimestamptzLoader

from config.postgresql.replica import read_connection


class QueryParameter(Expression):
    """Placeholder in a queryset for a value that each run supplies."""

    def __init__(self, name: str, output_field: "Field[Any, Any]") -> None:
        super().__init__(output_field=output_field)
        self.name = name

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        """Return a parameter whose value is this placeholder, which `CompiledQuery.bind` replaces."""
        return "%s", (self,)


# A migration changed a column in the plan, or a pooler reassigned the connection's plans.
_LOST_PLANS = (errors.FeatureNotSupported, errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement)


def parse_timestamps_in_c(cursor: Any) -> None:
    """Make a cursor parse timestamps in C, as psycopg does: Django's own loader sets the same time zone more slowly."""
    cursor.adapters.register_loader("timestamptz", TimestamptzLoader)


@dataclass(frozen=True)
class CompiledQuery:
    """SQL with its parameters, which may be placeholders."""

    sql: str
    parameters: tuple[Any, ...]

    @classmethod
    def of(cls, queryset: "QuerySet[Any, Any]") -> "CompiledQuery":
        """Compile a queryset."""
        sql, parameters = queryset.query.sql_with_params()
        return cls(sql, tuple(parameters))

    def bind(self, **values: Any) -> tuple[Any, ...]:
        """Return the parameters with the placeholders' values, by name."""
        return tuple(
            values[parameter.name] if isinstance(parameter, QueryParameter) else parameter
            for parameter in self.parameters
        )

    def fetch(self, **values: Any) -> Sequence[tuple[Any, ...]]:
        """Return all rows as PostgreSQL's driver reads them: JSON is still text."""
        return self._fetch(read_connection().cursor(), values)

    def fetch_prepared(self, **values: Any) -> Sequence[tuple[Any, ...]]:
        """Return all rows with a plan that PostgreSQL caches, which must fit all values."""
        database = read_connection()
        try:
            return self._fetch(database.prepared_cursor(), values)
        except DatabaseError as error:
            if database.in_atomic_block or not isinstance(error.__cause__, _LOST_PLANS):
                raise
        # The prepared statement is gone or outdated: a new connection has none.
        database.close()
        return self.fetch(**values)

    def _fetch(self, cursor_context: Any, values: dict[str, Any]) -> Sequence[tuple[Any, ...]]:
        with cursor_context as cursor:
            parse_timestamps_in_c(cursor)
            cursor.execute(self.sql, self.bind(**values))
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
