"""Per-chain advisory locks: writer, follower, backfills and deployments."""

from enum import StrEnum

from config.postgresql.advisory_locks import advisory_lock_key, take_transaction_lock


class ChainLockPurpose(StrEnum):
    """Advisory lock purposes; each has its own keys."""

    # Writing block rows, until the database transaction ends.
    WRITING = "writing"
    # Following the chain, for as long as a database connection lasts.
    FOLLOWING = "following"
    # Reading one run of past blocks. The number is its coverage row's id, since a chain has many runs.
    BACKFILLING = "backfilling"
    # Watching our transactions in flight on the chain.
    DEPLOYING = "deploying"


def chain_lock_key(purpose: ChainLockPurpose, number: int) -> int:
    """Return an advisory lock's key. `number` is a chain id, or for backfills a coverage row's id."""
    return advisory_lock_key(f"{purpose} {number}")


def lock_exclusive(chain_id: int) -> None:
    """Lock a chain for writing as the only writer, until the database transaction ends.

    Blocks while another transaction has the lock. Take it before any row lock: a transaction that waits here must hold
    nothing that the holder could wait for.
    """
    take_transaction_lock(chain_lock_key(ChainLockPurpose.WRITING, chain_id))
