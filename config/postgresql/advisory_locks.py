"""PostgreSQL advisory locks by name: for one transaction, or for one session (leader election).

A session lock elects the leader among processes that do the same work. PostgreSQL releases it when the session ends,
so a killed process leaves nothing behind. The session must be a direct connection to the server: behind a pooler in
transaction mode, the lock protects nothing (`config.postgresql.pooler`).
"""

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.db import Error, connection

from config.postgresql.pooler import new_direct_connection

logger = logging.getLogger(__name__)

# Keepalives detect a dead peer on each side of the lock's TCP connection. The client's names are libpq's, the last one
# in milliseconds.
_CLIENT_NOTICES = {
    "connect_timeout": 3,
    "keepalives": 1,
    "keepalives_idle": 1,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 4000,
}
# Settings of the server's session; they have no effect on a unix socket.
_SERVER_NOTICES = (
    "SET tcp_keepalives_idle = 1; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3;"
    " SET tcp_user_timeout = 4000; SET idle_session_timeout = 0"
)
# pg_locks has both halves of a key, as unsigned numbers.
_IS_HELD = """
SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND datname = current_database()
    AND (classid::bigint << 32 | objid::bigint) = %(key)s
"""


class LockHeldError(Exception):
    """Another process holds the lock."""


class SessionLock:
    """Session-level lock on a dedicated database connection. For one thread at a time."""

    def __init__(self, key: int) -> None:
        self._key = key
        self._connection: Any = None
        # The backend process that holds the lock.
        self._holder: int | None = None

    def claim(self) -> bool:
        """Try to take the lock; False if another session holds it, or the database is unreachable, which is logged."""
        if self.is_held():
            return True
        try:
            self._connection = self._connection or _connect()
            is_claimed, process = self._execute("SELECT pg_try_advisory_lock(%s), pg_backend_pid()", [self._key])
        except Error as error:
            logger.warning("The database is unreachable, so a lock can't be claimed: %s", " ".join(str(error).split()))
            self.close()
            return False
        self._holder = process if is_claimed else None
        return bool(is_claimed)

    def is_held(self) -> bool:
        """Return whether this session still holds the lock, by a query: a lost session holds nothing."""
        if self._holder is None:
            return False
        try:
            (process,) = self._execute("SELECT pg_backend_pid()", [])
        except Error:
            process = None
        if process != self._holder:
            self.close()
        return self._holder is not None

    def close(self) -> None:
        """Release the lock by closing the session."""
        self._holder = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def release(self) -> None:
        """Release the lock explicitly: the server notices a closed session only a moment later."""
        if self._holder is not None:
            # A lost session holds nothing.
            with suppress(Error):
                self._execute("SELECT pg_advisory_unlock(%s)", [self._key])
        self.close()

    def _execute(self, statement: str, parameters: list[Any]) -> Any:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchone()


@contextmanager
def session_lock(key: int) -> Iterator[SessionLock]:
    """Hold the lock while the block runs. Raises LockHeldError if another session holds it."""
    lock = SessionLock(key)
    try:
        if not lock.claim():
            raise LockHeldError
        yield lock
    finally:
        lock.release()


def is_session_lock_held(key: int) -> bool:
    """Return whether any session in this database holds the lock."""
    with connection.cursor() as cursor:
        cursor.execute(_IS_HELD, {"key": key})
        return cursor.fetchone() is not None


def _connect() -> Any:
    """Open a dedicated connection: the thread's own one ends with its requests, and has transactions."""
    connection = new_direct_connection()
    connection.settings_dict["OPTIONS"] = connection.settings_dict["OPTIONS"] | _CLIENT_NOTICES
    try:
        with connection.cursor() as cursor:
            cursor.execute(_SERVER_NOTICES)
    except Error:
        connection.close()
        raise
    return connection


def advisory_lock_key(name: str) -> int:
    """Return the lock's 64-bit key, a digest of its name: no two names share one."""
    return int.from_bytes(hashlib.sha256(f"launchboard {name}".encode()).digest()[:8], signed=True)


def take_transaction_lock(number: int) -> None:
    """Wait for the lock and hold it exclusively until this transaction ends.

    Take it before locking any row: a transaction that waits here must hold nothing that another could wait for.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("a transaction lock requires a transaction")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def try_transaction_lock(number: int) -> bool:
    """Hold the lock exclusively until this transaction ends, or return False if another transaction holds it."""
    if not connection.in_atomic_block:
        raise RuntimeError("a transaction lock requires a transaction")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [number])
        return bool(cursor.fetchone()[0])
