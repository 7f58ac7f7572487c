"""A pooler (PgBouncer) before PostgreSQL: its detection, and connections that bypass it.

In transaction mode it runs each transaction in any of its own server sessions. Session features fail there: session
locks, prepared statements, cursors outside a transaction, and SET, which changes other clients' sessions. In each mode
it refuses `options` at session start.
"""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

# Key in DATABASES, if DATABASE_URL leads to a pooler.
DIRECT = "direct"
_SERVER = "SELECT current_database(), pg_postmaster_start_time()"


def has_direct_url() -> bool:
    """Return whether DATABASE_DIRECT_URL is set."""
    return DIRECT in connections.settings


def direct_url_name() -> str:
    """Return the setting name that has PostgreSQL's own URL."""
    return "DATABASE_DIRECT_URL" if has_direct_url() else "DATABASE_URL"


def new_direct_connection() -> Any:
    """Return a new, unopened connection to PostgreSQL itself; the caller closes it."""
    return connections[DIRECT if has_direct_url() else DEFAULT_DB_ALIAS].copy()


def has_pooler(alias: str) -> bool:
    """Return whether this database is reached through a pooler. Raises DatabaseError.

    A pooler makes up the process id that a client gets when its session starts.
    """
    database = connections[alias].copy()
    try:
        (process_id,) = _row(database, "SELECT pg_backend_pid()")
        return bool(database.connection.info.backend_pid != process_id)
    finally:
        database.close()


def is_same_server(alias: str) -> bool:
    """Return whether this alias and DATABASE_URL lead to one database on one server. Raises DatabaseError."""
    database = connections[alias].copy()
    try:
        return bool(_row(database, _SERVER) == _row(connections[DEFAULT_DB_ALIAS], _SERVER))
    finally:
        database.close()


def _row(database: Any, statement: str) -> Any:
    with database.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()
