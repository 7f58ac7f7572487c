"""Migration operation that updates many rows in batches, so that each row stays locked for a moment."""

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib.postgres.operations import NotInTransactionMixin
from django.db import router
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import RunPython
from psycopg import sql

# SQL with named parameters, and their values.
Statement = tuple[str, dict[str, Any]]
# The largest bigint, instead of a next key after the last batch.
_END = 2**63 - 1
_NEXT_KEY = "SELECT coalesce((SELECT {key} FROM {table} WHERE {key} >= %s ORDER BY {key} OFFSET %s LIMIT 1), %s)"


class RunBatches(NotInTransactionMixin, RunPython):
    """Operation whose code yields statements for a connection: each is a transaction with the limits of a migration.

    The migration has no transaction of its own (`atomic = False`). If a statement fails, those before it stay, and the
    migration is repeated: a statement must skip the rows that it has changed. Code gets no models, because Django
    renders them for seconds.
    """

    @staticmethod
    def noop(*_: Any) -> Any:
        """Return no statements."""
        return ()

    def database_forwards(self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, *_: Any) -> None:
        """Run the statements if the router allows it. Raises NotSupportedError in a transaction, and DatabaseError."""
        self._run(self.code, app_label, schema_editor)

    def database_backwards(self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, *_: Any) -> None:
        """Run the statements of the reversal. Raises as `database_forwards` does."""
        self._run(self.reverse_code, app_label, schema_editor)

    def _run(self, code: Any, app_label: str, schema_editor: BaseDatabaseSchemaEditor) -> None:
        self._ensure_not_in_transaction(schema_editor)
        connection = schema_editor.connection
        if not router.allow_migrate(connection.alias, app_label, **self.hints):
            return
        for statement, parameters in code(connection):
            with connection.schema_editor() as editor:
                editor.execute(statement, parameters)


def by_keys(table: str, key: str, statement: str, *, rows: int = 500) -> Callable[..., Iterator[Statement]]:
    """Return code that yields the statement for each `rows`: a positive key from `%(first)s` to below `%(end)s`."""
    next_key = sql.SQL(_NEXT_KEY).format(key=sql.Identifier(key), table=sql.Identifier(table))

    def statements(connection: BaseDatabaseWrapper) -> Iterator[Statement]:
        first = 0
        while first < _END:
            with connection.cursor() as cursor:
                cursor.execute(next_key, [first, rows, _END])
                (end,) = cursor.fetchone()
            yield statement, {"first": first, "end": end}
            first = end

    return statements
