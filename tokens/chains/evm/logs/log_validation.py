"""Validation of logs from untrusted nodes, field by field and against each other. Reads no more than the clock.

A node that lags, follows another fork, or sits behind a proxy with a bad cache returns responses that look complete.
Faults visible in a response itself are detected here; missing logs can't be.
"""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.abi.codec import Log
from tokens.chains.evm.headers import read_header
from tokens.chains.evm.logs.blooms import bloom_mask
from tokens.chains.evm.logs.log_filters import LogFilter
from tokens.chains.rpc.quantities import (
    FIRST_TIME,
    INDEX_LIMIT,
    MalformedResponseError,
    parse_block_number,
    parse_data,
    parse_hash,
    parse_list,
    parse_log_address,
    parse_object,
    parse_quantity,
)
from tokens.chains.types import BlockHeader

# Fields of a log that must be equal where it is returned twice; nodes add fields of their own.
_CONTENT = ("address", "topics", "data", "blockHash", "transactionHash", "transactionIndex")
# Block number, block hash, transaction hash and transaction index of a log.
_Place = tuple[str, str, str, str]
_place_of = itemgetter("blockNumber", "blockHash", "transactionHash", "transactionIndex")
# The EVM has LOG0 to LOG4.
_MOST_TOPICS = 4
# Seconds that a reported time may be after the local clock.
_MOST_AHEAD = 86_400


def validate_logs(answers: Sequence[tuple[LogFilter | None, object]], *, first: int, last: int) -> list[Log]:
    """Return all logs of the responses about one run of blocks, each once, in chain order.

    Each response comes with the filter of its request; None is everything. Raises RetryableError where a log is
    malformed, was not requested, or contradicts another one.
    """
    by_place: dict[int, Log] = {}
    # Logs share most of their hashes, and a set look-up is faster than validating each again.
    known: set[str] = set()
    numbers: dict[_Place, int] = {}
    for log_filter, answer in answers:
        for entry in parse_list(answer, of="logs"):
            log = parse_object(entry, of="a log")
            _check_source(log, known=known)
            if log.get("removed", False) is not False:
                raise MalformedResponseError("a log that was removed")
            parse_data(log.get("data"))
            number = _parse_place(log, numbers=numbers, known=known)
            if not first <= number <= last or (log_filter is not None and not log_filter.matches(log)):
                raise RetryableError("a log that was not requested")
            place = number * INDEX_LIMIT + parse_quantity(log.get("logIndex"), below=INDEX_LIMIT)
            earlier = by_place.setdefault(place, log)
            if earlier is not log and any(earlier[name] != log[name] for name in _CONTENT):
                raise RetryableError("two logs in one place")
    ordered = [by_place[place] for place in sorted(by_place)]
    _check_order(ordered)
    return ordered


def parse_receipt_logs(receipts: object) -> tuple[list[Log], int]:
    """Return all logs of receipts, and the bloom filter that they make. Raises RetryableError where one is malformed.

    Only addresses and topics are validated, which make the filter; `validate_logs` does the rest.
    """
    found: list[Log] = []
    bloom = 0
    for receipt in parse_list(receipts, of="receipts"):
        for entry in parse_list(parse_object(receipt, of="a receipt").get("logs"), of="logs"):
            log = parse_object(entry, of="a log")
            topics = parse_list(log.get("topics"), of="topics")
            if len(topics) > _MOST_TOPICS:
                raise MalformedResponseError("more topics than a log has")
            try:
                bloom |= _address_mask(log.get("address"))
                for topic in topics:
                    bloom |= _topic_mask(topic)
            except TypeError as error:
                # A list or an object, which no cache holds.
                raise MalformedResponseError("something else in the place of an address or a topic") from error
            found.append(log)
    return found, bloom


def parse_receipt_senders(receipts: object) -> dict[str, object]:
    """Return transaction hash -> sender, not validated, of receipts in their order.

    Raises RetryableError if a receipt is malformed.
    """
    told = (parse_object(receipt, of="a receipt") for receipt in parse_list(receipts, of="receipts"))
    return {parse_hash(receipt.get("transactionHash")): receipt.get("from") for receipt in told}


def parse_block_transactions(block: object, header: BlockHeader, *, full: bool) -> dict[str, object]:
    """Return transaction hash -> sender, not validated, of a block in its order; None unless requested in full.

    Raises RetryableError if it is another block than the header's, or malformed.
    """
    if read_header(block, number=header.number).hash != header.hash:
        raise RetryableError("another block than the requested one")
    told = parse_list(parse_object(block, of="a block").get("transactions"), of="transactions")
    if not full:
        return dict.fromkeys(map(parse_hash, told))
    transactions = (parse_object(entry, of="a transaction") for entry in told)
    return {parse_hash(transaction.get("hash")): transaction.get("from") for transaction in transactions}


# Validated and hashed at once, and cached, because the logs of a block repeat most of their addresses and topics.
@lru_cache(maxsize=16_384)
def _address_mask(text: object) -> int:
    return bloom_mask(parse_log_address(text).lower())


@lru_cache(maxsize=16_384)
def _topic_mask(text: object) -> int:
    return bloom_mask(parse_hash(text))


def validate_block_hashes(logs: Iterable[Log], hashes: Mapping[int, str]) -> None:
    """Raise RetryableError if a log is of another block than the one with this hash at its number."""
    for log in logs:
        if hashes.get(int(log["blockNumber"], 16)) != log["blockHash"]:
            raise RetryableError("a log of a block that was dropped")


def validate_log_times(logs: Iterable[Log], times: Mapping[str, int]) -> None:
    """Raise RetryableError if a log reports another time than its block's header. `times` are Unix seconds by hash."""
    for log in logs:
        seconds = _read_time(log.get("blockTimestamp"))
        if seconds and seconds != times[log["blockHash"]]:
            raise RetryableError("a log with another time than its block")


def validate_transaction_indexes(logs: Iterable[Log], tx_hashes: Sequence[object]) -> None:
    """Raise RetryableError if a log's transaction is not at its index among those of the block."""
    for log in logs:
        place = int(log["transactionIndex"], 16)
        if place >= len(tx_hashes) or tx_hashes[place] != log["transactionHash"]:
            raise RetryableError("a log of a transaction that is not in the block")


def filter_watched(logs: Iterable[Log], filters: Collection[LogFilter]) -> list[Log]:
    """Return the logs that match any of the filters."""
    # Most logs of a receipt, such as transfers, have another first topic.
    of_topics: dict[str, list[LogFilter]] = {}
    for log_filter in filters:
        for topic in log_filter.topics:
            of_topics.setdefault(topic, []).append(log_filter)
    found = []
    for log in logs:
        topics = log["topics"]
        for log_filter in of_topics.get(topics[0], ()) if topics else ():
            if log_filter.matches(log):
                found.append(log)
                break
    return found


def reported_times(logs: Iterable[Log]) -> dict[str, int]:
    """Return block hash -> Unix seconds, of the blocks for which all logs report the same time.

    `blockTimestamp` is newer than many nodes; some write 0 for an unknown time, and some no hex. A time before the day
    of Ethereum's first block, or more than a day after now, counts as not reported; so do all if one is out of order.
    """
    found: dict[str, int] = {}
    numbers: dict[str, int] = {}
    before: tuple[str, object] | None = None
    for log in logs:
        reported = log["blockHash"], log.get("blockTimestamp")
        if reported != before:
            block_hash, seconds = reported[0], _read_time(reported[1])
            numbers[block_hash] = int(log["blockNumber"], 16)
            found[block_hash] = seconds if found.get(block_hash, seconds) == seconds else 0
            before = reported
    times = [found[block_hash] for block_hash in sorted(found, key=numbers.__getitem__) if found[block_hash]]
    # Of times that go back, it is unknown which are wrong.
    return {block_hash: seconds for block_hash, seconds in found.items() if seconds} if times == sorted(times) else {}


def _parse_place(log: Mapping[str, Any], *, numbers: dict[_Place, int], known: set[str]) -> int:
    """Validate the place of a log and return its block number.

    The logs of a transaction share their place: `numbers` are block numbers by place, validated before. `known` are
    hashes validated before.
    """
    try:
        place = _place_of(log)
        number = numbers.get(place)
    except (KeyError, TypeError) as error:
        raise MalformedResponseError("a log without its place") from error
    if number is None:
        block_number, block_hash, tx_hash, index = place
        if block_hash not in known:
            known.add(parse_hash(block_hash))
        known.add(parse_hash(tx_hash))
        parse_quantity(index, below=INDEX_LIMIT)
        number = numbers[place] = parse_block_number(block_number)
    return number


def _check_source(log: Mapping[str, Any], *, known: set[str]) -> None:
    """Validate the address and topics of a log. `known` are hashes validated before."""
    topics = parse_list(log.get("topics"), of="topics")
    if len(topics) > _MOST_TOPICS:
        raise MalformedResponseError("more topics than a log has")
    for text in topics:
        if not isinstance(text, str) or text not in known:
            known.add(parse_hash(text))
    parse_log_address(log.get("address"))


def _check_order(logs: Sequence[Log]) -> None:
    """Raise RetryableError unless each number has one block, and transactions are in order."""
    numbers: dict[str, str] = {}
    before, index_before = None, -1
    for place in map(_place_of, logs):
        if place == before:
            continue
        number, block_hash, tx_hash, index_text = place
        if not number == numbers.setdefault(block_hash, number) == numbers.setdefault(tx_hash, number):
            raise RetryableError("one block or transaction at two numbers")
        index = int(index_text, 16)
        if before is not None and before[0] == number:
            if before[1] != block_hash:
                raise RetryableError("logs of two blocks with one number")
            if before[2] == tx_hash or index <= index_before:
                raise RetryableError("logs whose transactions are out of order")
        before, index_before = place, index


def _read_time(text: object) -> int:
    try:
        seconds = parse_quantity(text)
    except MalformedResponseError:
        return 0
    return seconds if FIRST_TIME <= seconds <= time.time() + _MOST_AHEAD else 0
