"""Django's PostgreSQL backend with a cheaper look at connections, and prepared statements. Django looks for `base`."""

import select
from typing import Any

from django.db.backends.postgresql import base
from django.db.backends.postgresql.operations import DatabaseOperations as PostgresOperations


class DatabaseOperations(PostgresOperations):
    """Shows statements to whoever logs or counts them with their parameters, also where these went by themselves."""

    def last_executed_query(self, cursor: Any, sql: str, params: Any) -> str:
        """The statement as text."""
        composed: str = self.compose_sql(sql, params)
        return composed


class DatabaseWrapper(base.DatabaseWrapper):
    """Adds two things that count where a request is hardly more than one query."""

    ops_class = DatabaseOperations

    def is_usable(self) -> bool:
        """Whether the connection is open and nothing has come in that nobody asked for.

        Django would ask the server, once in every request. A server that ended or ended the connection has said so,
        and what it said waits here to be read; a connection that was lost without a word would not answer either.
        """
        connection: Any = self.connection
        if connection is None or connection.closed:
            return False
        # Not `select`, which knows no descriptor beyond 1,023: a server with many clients has those.
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        return not poll.poll(0) or bool(super().is_usable())

    def prepared_cursor(self) -> Any:
        """A cursor whose statements PostgreSQL parses and plans once for each connection.

        Only for statements whose plan is right whatever their parameters are: PostgreSQL will not look at them.
        """
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            cursor: Any = base.ServerBindingCursor
            return self._prepare_cursor(cursor(self.connection))  # type: ignore[attr-defined]
