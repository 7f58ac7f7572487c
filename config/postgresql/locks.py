"""Advisory locks of PostgreSQL by name, each with a number that nothing else locks by."""

import hashlib

from django.db import connection


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
