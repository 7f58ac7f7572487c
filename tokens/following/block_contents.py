"""Contents of block ranges: joined, cut between blocks, and replaced by block. Pure."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import TypeVar

from tokens.chains.pool_types import LiquidityChange, Swap, UndecodableLog
from tokens.chains.types import RangeFacts, TransactionFacts

# The most chain transactions in one database transaction. A block is never split.
MAX_WRITTEN_TRANSACTIONS = 2000
# This many swaps and liquidity changes take as much work and memory as a transaction with a launch or events.
POOL_LOGS_PER_TRANSACTION = 10

BlockContent = TypeVar("BlockContent", TransactionFacts, Swap, LiquidityChange, UndecodableLog)


def split_between_blocks(reading: RangeFacts, *, most: int = MAX_WRITTEN_TRANSACTIONS) -> Iterator[RangeFacts]:
    """Split a range between blocks into parts that each fit into one database transaction, if a block does."""
    size_by_block = Counter[int]()
    for facts in reading.transactions:
        size_by_block[facts.block_number] += POOL_LOGS_PER_TRANSACTION
    for log in pool_logs(reading):
        size_by_block[log.block_number] += 1
    first, size = reading.first, 0
    for number in sorted(size_by_block):
        if size and size + size_by_block[number] > most * POOL_LOGS_PER_TRANSACTION:
            # All earlier blocks are complete.
            yield cut_range(reading, first, number - 1)
            first, size = number, 0
        size += size_by_block[number]
    yield cut_range(reading, first, reading.last)


def count_contents(reading: RangeFacts) -> int:
    """Return the range's size in transactions."""
    logs = len(reading.swaps) + len(reading.liquidity_changes)
    return len(reading.transactions) + logs // POOL_LOGS_PER_TRANSACTION


def pool_logs(reading: RangeFacts) -> list[Swap | LiquidityChange]:
    """Return the range's swaps, and then its liquidity changes."""
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
    """Return the range's contents from block `first` to `last`."""

    def cut(contents: Sequence[BlockContent]) -> tuple[BlockContent, ...]:
        index = partial(bisect_left, contents, key=attrgetter("block_number"))
        return tuple(contents[index(first) : index(last + 1)])

    return RangeFacts(
        first=first,
        last=last,
        transactions=cut(reading.transactions),
        swaps=cut(reading.swaps),
        liquidity_changes=cut(reading.liquidity_changes),
        undecodable=cut(reading.undecodable),
    )


def replace_blocks(reading: RangeFacts, other: RangeFacts, *, numbers: Collection[int]) -> RangeFacts:
    """Return the reading with the contents of blocks `numbers` taken from the other reading."""

    def merged(logs: Sequence[BlockContent], others: Sequence[BlockContent]) -> tuple[BlockContent, ...]:
        # A block's logs all come from one reading and keep their sequence.
        unchanged = [log for log in logs if log.block_number not in numbers]
        new = [log for log in others if log.block_number in numbers]
        return tuple(sorted(unchanged + new, key=attrgetter("block_number")))

    return replace(
        reading,
        transactions=merged(reading.transactions, other.transactions),
        swaps=merged(reading.swaps, other.swaps),
        liquidity_changes=merged(reading.liquidity_changes, other.liquidity_changes),
        undecodable=merged(reading.undecodable, other.undecodable),
    )
