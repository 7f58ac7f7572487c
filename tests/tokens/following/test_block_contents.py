"""Block range contents (tokens/following/block_contents.py): cut between blocks, and replaced by block."""

from tokens.chains.pool_types import Swap
from tokens.chains.types import RangeFacts, TransactionFacts
from tokens.following.block_contents import (
    MAX_WRITTEN_TRANSACTIONS,
    POOL_LOGS_PER_TRANSACTION,
    join_ranges,
    replace_blocks,
    split_between_blocks,
)


def of_block(number: int, count: int) -> list[TransactionFacts]:
    """Return `count` empty transactions in a block."""
    place = {"block_number": number, "block_hash": "0x01", "block_time": 1}
    return [TransactionFacts(tx_hash=f"0x{n}", launches=(), event_logs=(), **place) for n in range(count)]


def swaps_of(number: int, count: int) -> list[Swap]:
    return [Swap("0x5", number, 1, "0x6", index, 1, -1, 2**96, "0x7", None) for index in range(count)]


def contents(transactions: list[TransactionFacts], swaps: list[Swap], *, last: int = 20) -> RangeFacts:
    return RangeFacts(first=1, last=last, transactions=tuple(transactions), swaps=tuple(swaps))


def test_what_is_too_much_for_one_write_is_cut_between_blocks():
    most = MAX_WRITTEN_TRANSACTIONS
    found = [*of_block(3, most - 1), *of_block(7, 2), *of_block(8, most + 5), *of_block(11, 1)]
    cut = [
        (part.first, part.last, len(part.transactions), {facts.block_number for facts in part.transactions})
        for part in split_between_blocks(contents(found, []))
    ]
    assert cut == [(1, 6, most - 1, {3}), (7, 7, 2, {7}), (8, 10, most + 5, {8}), (11, 20, 1, {11})]


def test_swaps_are_cut_with_the_transactions_of_their_blocks():
    most = MAX_WRITTEN_TRANSACTIONS * POOL_LOGS_PER_TRANSACTION
    swaps = [*swaps_of(3, most - POOL_LOGS_PER_TRANSACTION), *swaps_of(4, 1), *swaps_of(9, 2)]
    parts = list(split_between_blocks(contents([*of_block(3, 1), *of_block(4, 1), *of_block(9, 1)], swaps)))
    assert [(part.first, part.last) for part in parts] == [(1, 3), (4, 20)]
    assert [len(part.swaps) for part in parts] == [most - POOL_LOGS_PER_TRANSACTION, 3]
    assert [len(part.transactions) for part in parts] == [1, 2]
    joined = join_ranges(parts)
    assert (joined.first, joined.last, joined.swaps) == (1, 20, tuple(swaps))


def test_blocks_without_anything_are_one_write():
    assert list(split_between_blocks(contents([], []))) == [contents([], [])]


def test_blocks_are_replaced_as_a_whole_and_stay_in_chain_order():
    reading = contents([*of_block(3, 2), *of_block(5, 1)], [*swaps_of(3, 1), *swaps_of(4, 2), *swaps_of(5, 1)])
    other = contents(of_block(4, 1), [*swaps_of(4, 1)])
    found = replace_blocks(reading, other, numbers={3, 4})
    assert [facts.block_number for facts in found.transactions] == [4, 5]
    assert [swap.block_number for swap in found.swaps] == [4, 5]
