"""One process at a time does a chain's work: the one whose database session holds the chain's lock.

PostgreSQL gives the lock back when the session ends, however its process ended, so that nothing of a killed process has
to be cleared away. The session must be one with the server itself: behind a pooler that hands a session out by
transactions, nobody holds anything.
"""

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.db import Error, connection, connections

logger = logging.getLogger(__name__)

# How soon each side of the lock's connection notices that the other is gone without a word, where it goes by TCP.
# The client's words are libpq's, with the last in milliseconds.
_CLIENT_NOTICES = {
    "connect_timeout": 3,
    "keepalives": 1,
    "keepalives_idle": 1,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 4000,
}
# The server's are settings of the session, which mean nothing on a local socket.
_SERVER_NOTICES = (
    "SET tcp_keepalives_idle = 1; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3;"
    " SET tcp_user_timeout = 4000; SET idle_session_timeout = 0"
)


class HeldElsewhere(Exception):
    """Another process holds the lock."""


class Leadership:
    """A lock of one name, claimed or not, with a database connection of its own. For one thread at a time."""

    def __init__(self, key: int) -> None:
        self._key = key
        self._connection: Any = None
        # Which of the server's processes serves the session that holds the lock.
        self._holder: int | None = None

    def claim(self) -> bool:
        """Take the lock, unless somebody has it; False also while the database is out of reach, which the log says."""
        if self.holds():
            return True
        try:
            self._connection = self._connection or _connect()
            taken, process = self._ask("SELECT pg_try_advisory_lock(%s), pg_backend_pid()", [self._key])
        except Error as error:
            logger.warning("the database can't be asked for a lock: %s", " ".join(str(error).split()))
            self.give_up()
            return False
        self._holder = process if taken else None
        return bool(taken)

    def holds(self) -> bool:
        """Whether the lock is ours, which the server is asked for: a session that was lost holds nothing any more."""
        if self._holder is None:
            return False
        try:
            (process,) = self._ask("SELECT pg_backend_pid()", [])
        except Error:
            process = None
        if process != self._holder:
            self.give_up()
        return self._holder is not None

    def give_up(self) -> None:
        """Let the next one have it, by ending the session."""
        self._holder = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def unlock(self) -> None:
        """Let the next one have it at once: the end of a session is seen by the server a moment after ours."""
        if self._holder is not None:
            # A session that was lost holds nothing any more.
            with suppress(Error):
                self._ask("SELECT pg_advisory_unlock(%s)", [self._key])
        self.give_up()

    def _ask(self, statement: str, parameters: list[Any]) -> Any:
        with self._connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchone()


@contextmanager
def held(key: int) -> Iterator[Leadership]:
    """Hold the lock while the block runs. Raises HeldElsewhere where it can't be had at once."""
    leadership = Leadership(key)
    try:
        if not leadership.claim():
            raise HeldElsewhere
        yield leadership
    finally:
        leadership.unlock()


def _connect() -> Any:
    """A connection of nobody else's: not the thread's, which ends with its requests and holds transactions."""
    connection: Any = connections["default"].copy()
    connection.settings_dict["OPTIONS"] = connection.settings_dict["OPTIONS"] | _CLIENT_NOTICES
    try:
        with connection.cursor() as cursor:
            cursor.execute(_SERVER_NOTICES)
    except Error:
        connection.close()
        raise
    return connection


# Advisory locks of PostgreSQL by name, each with a number that nothing else locks by.
def lock_number(name: str) -> int:
    """The number of the lock of this name: 64 bits of a digest, so that whatever locks has a number of its own."""
    return int.from_bytes(hashlib.sha256(f"launchboard {name}".encode()).digest()[:8], signed=True)


def take(number: int, *, shared: bool = False) -> None:
    """Wait for the lock, and hold it, alone or with all who share it, until the end of this database transaction.

    To be taken before any row: who waits here holds nothing that another could wait for.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("a lock until the end of a transaction is of no use outside of one")
    function = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [number])
