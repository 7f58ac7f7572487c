"""A pooler (PgBouncer) before PostgreSQL: connections that pass it by, and its detection.

In transaction mode it gives each transaction any of its own sessions of the server. What belongs to a session fails
there: session locks, prepared statements, cursors outside a transaction, and SET, which changes the sessions of other
clients. In each mode it refuses `options` at the start of a session.
"""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

# Key of DATABASES, if DATABASE_URL leads to a pooler.
DIRECT = "direct"
_SERVER = "SELECT current_database(), pg_postmaster_start_time()"


def has_direct_url() -> bool:
    """Return whether DATABASE_DIRECT_URL is set."""
    return DIRECT in connections.settings


def direct_url_name() -> str:
    """Return the name of the setting with the URL of PostgreSQL itself."""
    return "DATABASE_DIRECT_URL" if has_direct_url() else "DATABASE_URL"


def new_direct_connection() -> Any:
    """Return a connection to PostgreSQL itself, apart from that of the thread, not yet open; the caller closes it."""
    return connections[DIRECT if has_direct_url() else DEFAULT_DB_ALIAS].copy()


def has_pooler(alias: str) -> bool:
    """Return whether this database is reached through a pooler. Raises DatabaseError.

    A pooler makes up the process id that a client gets at the start of its session.
    """
    database = connections[alias].copy()
    try:
        (process_id,) = _row(database, "SELECT pg_backend_pid()")
        return bool(database.connection.info.backend_pid != process_id)
    finally:
        database.close()


def is_same_server(alias: str) -> bool:
    """Return whether this database is that of DATABASE_URL, on the same server. Raises DatabaseError."""
    other = connections[alias].copy()
    try:
        return bool(_row(other, _SERVER) == _row(connections[DEFAULT_DB_ALIAS], _SERVER))
    finally:
        other.close()


def _row(database: Any, statement: str) -> Any:
    with database.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()
