"""What is read of a chain's blocks: headers, and what a run of blocks holds for us."""

from dataclasses import dataclass

from config.http.json_client import Retryable
from tokens.chains.types import TransactionFacts


class BlockGone(Retryable):
    """The chain has another block, or none, where one was that had been read: it was dropped, or the node lags."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockHeader:
    """A block; hashes are lower-case hex, the time is in Unix seconds."""

    number: int
    hash: str
    parent_hash: str
    time: int
    # The 2048 bits of its filter over the addresses and topics of all logs.
    logs_bloom: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What blocks from the first to the last hold for us: transactions in the chain's order."""

    first: int
    last: int
    transactions: tuple[TransactionFacts, ...]
