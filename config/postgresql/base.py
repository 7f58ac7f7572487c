"""Django's PostgreSQL backend with a cheaper connection check, prepared statements, and checks before migrations.

Django requires the module name `base`.
"""

import select
from collections.abc import Callable
from typing import Any, ClassVar, Self

from django.core.checks import CheckMessage, Error
from django.db.backends.base.validation import BaseDatabaseValidation
from django.db.backends.postgresql import base
from django.db.backends.postgresql.operations import DatabaseOperations as PostgresOperations
from django.db.backends.postgresql.schema import DatabaseSchemaEditor as PostgresSchemaEditor

from config.postgresql.schema_state import check_squashed_migrations

# A statement that waits for a table lock blocks all later statements on the table.
_LOCK_TIMEOUT = "5s"
# A migration holds its locks until its end. A longer one, such as an UPDATE on all rows, sets its own limit.
_STATEMENT_TIMEOUT = "60s"
_MAY_CREATE = """
SELECT quote_ident(current_user), EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public'
    AND has_schema_privilege(oid, 'CREATE'))
"""
_IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


def role_without_tables(cursor: Any) -> str | None:
    """Return the connection's role name if the role may not create tables in the schema `public`."""
    cursor.execute(_MAY_CREATE)
    role, may_create = cursor.fetchone()
    return None if may_create else str(role)


class DatabaseValidation(BaseDatabaseValidation):
    """Check before `migrate`: since PostgreSQL 15, only a database's owner may create tables without a grant."""

    def check(self, **kwargs: Any) -> list[CheckMessage]:
        """Return an error if the role may not create tables. Raises DatabaseError."""
        with self.connection.cursor() as cursor:
            role = role_without_tables(cursor)
        if role is None:
            return []
        text = f"The role {role} may not create tables in the schema public."
        hint = f"As the database's administrator: GRANT CREATE ON SCHEMA public TO {role}; see docs/installing.md."
        return [Error(text, hint=hint, id="config.E001")]


class DatabaseOperations(PostgresOperations):
    """Database operations that log statements with their parameters, even if these were sent separately."""

    def last_executed_query(self, cursor: Any, sql: str, params: Any) -> str:
        """Return the statement as text."""
        text: str = self.compose_sql(sql, params)
        return text


class DatabaseSchemaEditor(PostgresSchemaEditor):
    """Schema editor that limits the lock waits and statements in each migration's transaction.

    A migration that exceeds a limit fails without a change, and can be repeated. A migration without a transaction has
    no limits: it builds or drops indexes concurrently, which blocks nothing and takes long.
    """

    def __enter__(self) -> Self:
        super().__enter__()
        if self.atomic_migration:
            self.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
            self.execute(f"SET LOCAL statement_timeout = '{_STATEMENT_TIMEOUT}'")
        return self

    def add_index(self, model: Any, index: Any, concurrently: bool = False) -> None:
        """Create an index. A repeated concurrent build keeps a valid index, and replaces an invalid one."""
        if concurrently and not self.collect_sql:
            with self.connection.cursor() as cursor:
                cursor.execute(_IS_VALID, [self.quote_name(index.name)])
                row = cursor.fetchone()
            if row == (True,):
                return
            if row:
                self.remove_index(model, index, concurrently=True)
        super().add_index(model, index, concurrently)


class DatabaseWrapper(base.DatabaseWrapper):
    """Connection with a cheap health check and prepared cursors, which matter for requests with a single query."""

    SchemaEditorClass = DatabaseSchemaEditor
    ops_class = DatabaseOperations
    validation_class = DatabaseValidation
    # Wrappers for the statements on all connections, callable as in Django's `execute_wrapper`.
    statement_wrappers: ClassVar[list[Callable[..., Any]]] = []
    # Django's own, which its stubs lack.
    _prepare_cursor: Callable[[Any], Any]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.execute_wrappers = [*self.statement_wrappers]

    def prepare_database(self) -> None:
        """Check the applied migrations before `migrate`. Raises CommandError."""
        super().prepare_database()
        check_squashed_migrations(self)

    def is_usable(self) -> bool:
        """Return whether the connection is open and has no unexpected input.

        Django would query the server once in every request. A server that shut down or closed the connection
        has sent a message, which is readable here. A connection that was lost silently would not respond to a
        query either.
        """
        connection: Any = self.connection
        if connection is None or connection.closed:
            return False
        # Not `select`, which fails for descriptors above 1,023: a server with many clients has those.
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        return not poll.poll(0) or bool(super().is_usable())

    def prepared_cursor(self) -> Any:
        """Return a cursor whose statements PostgreSQL parses and plans once for each connection.

        Only for statements with a plan that fits all parameters: PostgreSQL does not consider them.
        """
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            cursor: Any = base.ServerBindingCursor
            return self._prepare_cursor(cursor(self.connection))
