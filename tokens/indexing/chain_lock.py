"""Advisory locks of a chain: for its only writer, its follower, its backfills and its deployments."""

from enum import StrEnum

from config.postgresql.advisory_locks import advisory_lock_key, take_transaction_lock


class ChainLockPurpose(StrEnum):
    """The purposes of advisory locks; each has keys of its own."""

    # Writing rows of blocks, until the end of a transaction.
    WRITING = "writing"
    # Following the chain, for as long as a database connection lasts.
    FOLLOWING = "following"
    # Reading one run of past blocks. The number is the id of its coverage row, of which a chain has many.
    BACKFILLING = "backfilling"
    # Watching our transactions in flight on the chain.
    DEPLOYING = "deploying"


def chain_lock_key(purpose: ChainLockPurpose, number: int) -> int:
    """Return the key of an advisory lock. `number` is a chain id, or for backfills the id of a coverage row."""
    return advisory_lock_key(f"{purpose} {number}")


def lock_exclusive(chain_id: int) -> None:
    """Lock a chain for writing as the only writer, until the end of the database transaction.

    Blocks while another transaction has the lock. Take it before any row lock: a transaction that waits here must hold
    nothing that the holder could wait for.
    """
    take_transaction_lock(chain_lock_key(ChainLockPurpose.WRITING, chain_id))
