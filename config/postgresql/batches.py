"""Migration operation that updates many rows in batches, so that each row stays locked for a moment."""

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib.postgres.operations import NotInTransactionMixin
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import RunPython
from psycopg import sql

# SQL with named parameters, and their values.
Statement = tuple[str, dict[str, Any]]
_KEYS = 500


class RunBatches(NotInTransactionMixin, RunPython):
    """Operation whose code yields statements: each is a transaction with the limits of a migration.

    The migration has no transaction of its own (`atomic = False`). If a statement fails, those before it stay, and the
    migration is repeated: a statement must skip the rows that it has changed.
    """

    def database_forwards(self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, *states: Any) -> None:
        """Run the statements. Raises NotSupportedError in a transaction, and DatabaseError."""
        self._run(self.code, schema_editor, states[0])

    def database_backwards(self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, *states: Any) -> None:
        """Run the statements of the reversal. Raises as `database_forwards` does."""
        self._run(self.reverse_code, schema_editor, states[0])

    def _run(self, code: Callable[..., Any] | None, schema_editor: BaseDatabaseSchemaEditor, state: Any) -> None:
        self._ensure_not_in_transaction(schema_editor)
        # `noop` returns None.
        for statement, parameters in (code and code(state.apps, schema_editor)) or ():
            with schema_editor.connection.schema_editor() as editor:
                editor.execute(statement, parameters)


def by_keys(table: str, key: str, statement: str) -> Callable[..., Iterator[Statement]]:
    """Return the code that yields the statement for ranges of an integer key, `%(first)s` to below `%(end)s`."""

    def statements(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> Iterator[Statement]:
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(
                sql.SQL("SELECT coalesce(min({key}), 0), coalesce(max({key}), -1) FROM {table}").format(
                    key=sql.Identifier(key), table=sql.Identifier(table)
                )
            )
            lowest, highest = cursor.fetchone()
        for first in range(lowest, highest + 1, _KEYS):
            yield statement, {"first": first, "end": first + _KEYS}

    return statements
