"""Who may write what a chain says: many at a time that index single transactions, or the chain's follower alone."""

import hashlib
from enum import StrEnum

from django.db import connection


class Purpose(StrEnum):
    """What advisory locks of a chain are for; each purpose has keys of its own."""

    # Writing what blocks hold, until the end of a transaction.
    WRITING = "writing"
    # Following the chain at all, for as long as a connection lasts.
    FOLLOWING = "following"
    # Reading one run of past blocks; the number is its coverage row's, of which a chain has many.
    BACKFILLING = "backfilling"
    # Looking after what we have in flight on the chain.
    DEPLOYING = "deploying"


def key(purpose: Purpose, number: int) -> int:
    """The number of a chain's advisory lock: 64 bits of a digest, as whatever else locks by a number has its own."""
    digest = hashlib.sha256(f"launchboard {purpose} {number}".encode()).digest()
    return int.from_bytes(digest[:8], signed=True)


def share(chain_id: int) -> None:
    """Write rows of a chain beside others that do; wait for who owns it. Until the end of this database transaction.

    To be taken before any row: who waits here holds nothing that the owner could wait for.
    """
    _take("pg_advisory_xact_lock_shared", chain_id)


def own(chain_id: int) -> None:
    """Write rows of a chain alone, once those who share it have ended. Until the end of this database transaction."""
    _take("pg_advisory_xact_lock", chain_id)


def _take(function: str, chain_id: int) -> None:
    if not connection.in_atomic_block:
        raise RuntimeError("a lock until the end of a transaction is of no use outside of one")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s)", [key(Purpose.WRITING, chain_id)])
