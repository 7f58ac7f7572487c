"""Contents of ranges of blocks: joined, cut between blocks, and replaced by block. Pure."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import TypeVar

from tokens.chains.pool_types import LiquidityChange, Swap, UndecodableLog
from tokens.chains.types import RangeFacts, TransactionFacts

# The most transactions in one database transaction. Those of a block are never split.
MAX_WRITTEN_TRANSACTIONS = 2000
# So many swaps and liquidity changes are as much work, and as much memory, as a transaction with a launch or events.
POOL_LOGS_PER_TRANSACTION = 10

BlockContent = TypeVar("BlockContent", TransactionFacts, Swap, LiquidityChange, UndecodableLog)


def split_between_blocks(reading: RangeFacts, *, most: int = MAX_WRITTEN_TRANSACTIONS) -> Iterator[RangeFacts]:
    """Split a range between blocks into parts that each fit into one database transaction, if a block does."""
    of_blocks = Counter[int]()
    for facts in reading.transactions:
        of_blocks[facts.block_number] += POOL_LOGS_PER_TRANSACTION
    for log in pool_logs(reading):
        of_blocks[log.block_number] += 1
    first, held = reading.first, 0
    for number in sorted(of_blocks):
        if held and held + of_blocks[number] > most * POOL_LOGS_PER_TRANSACTION:
            # All earlier blocks are complete.
            yield cut_range(reading, first, number - 1)
            first, held = number, 0
        held += of_blocks[number]
    yield cut_range(reading, first, reading.last)


def count_contents(reading: RangeFacts) -> int:
    """Return the size of a range in transactions."""
    logs = len(reading.swaps) + len(reading.liquidity_changes)
    return len(reading.transactions) + logs // POOL_LOGS_PER_TRANSACTION


def pool_logs(reading: RangeFacts) -> list[Swap | LiquidityChange]:
    """Return the swaps, and then the liquidity changes, of a range."""
    return [*reading.swaps, *reading.liquidity_changes]


def join_ranges(batch: Sequence[RangeFacts]) -> RangeFacts:
    """Return consecutive ranges as one."""
    return RangeFacts(
        first=batch[0].first,
        last=batch[-1].last,
        transactions=tuple(facts for reading in batch for facts in reading.transactions),
        swaps=tuple(swap for reading in batch for swap in reading.swaps),
        liquidity_changes=tuple(change for reading in batch for change in reading.liquidity_changes),
        undecodable=tuple(log for reading in batch for log in reading.undecodable),
    )


def cut_range(reading: RangeFacts, first: int, last: int) -> RangeFacts:
    """Return some blocks of a range."""

    def of_blocks(logs: Sequence[BlockContent]) -> tuple[BlockContent, ...]:
        place = partial(bisect_left, logs, key=attrgetter("block_number"))
        return tuple(logs[place(first) : place(last + 1)])

    return RangeFacts(
        first=first,
        last=last,
        transactions=of_blocks(reading.transactions),
        swaps=of_blocks(reading.swaps),
        liquidity_changes=of_blocks(reading.liquidity_changes),
        undecodable=of_blocks(reading.undecodable),
    )


def replace_blocks(reading: RangeFacts, other: RangeFacts, *, numbers: Collection[int]) -> RangeFacts:
    """Return the reading with the contents of some blocks replaced by those of another reading."""

    def merged(logs: Sequence[BlockContent], others: Sequence[BlockContent]) -> tuple[BlockContent, ...]:
        # All logs of a block come from one of the two and keep their order.
        kept = [log for log in logs if log.block_number not in numbers]
        new = [log for log in others if log.block_number in numbers]
        return tuple(sorted(kept + new, key=attrgetter("block_number")))

    return replace(
        reading,
        transactions=merged(reading.transactions, other.transactions),
        swaps=merged(reading.swaps, other.swaps),
        liquidity_changes=merged(reading.liquidity_changes, other.liquidity_changes),
        undecodable=merged(reading.undecodable, other.undecodable),
    )
