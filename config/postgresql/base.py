"""Django's PostgreSQL backend, with a cheaper look at whether a connection is still there. Django looks for `base`."""

import select
from typing import Any

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """Looks at the connection's own end, where Django would ask the server once in every request.

    A server that ended or ended the connection has said so, and what it said waits here to be read. A connection that
    was lost without a word would not answer Django's question either.
    """

    def is_usable(self) -> bool:
        """Whether the connection is open and nothing has come in that nobody asked for."""
        connection: Any = self.connection
        if connection is None or connection.closed:
            return False
        readable, _, _ = select.select([connection.fileno()], [], [], 0)
        return not readable or bool(super().is_usable())
