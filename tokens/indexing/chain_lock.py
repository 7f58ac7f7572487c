"""Who may write what a chain says: many at a time that index single transactions, or the chain's follower alone."""

from enum import StrEnum

from config.postgresql.advisory_locks import lock_number, take


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
    """The number of a chain's advisory lock."""
    return lock_number(f"{purpose} {number}")


def share(chain_id: int) -> None:
    """Write rows of a chain beside others that do; wait for who owns it. Until the end of this database transaction.

    To be taken before any row: who waits here holds nothing that the owner could wait for.
    """
    take(key(Purpose.WRITING, chain_id), shared=True)


def own(chain_id: int) -> None:
    """Write rows of a chain alone, once those who share it have ended. Until the end of this database transaction."""
    take(key(Purpose.WRITING, chain_id))
