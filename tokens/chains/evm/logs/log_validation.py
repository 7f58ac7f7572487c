"""Validation of logs from untrusted nodes, field by field and against each other. Pure, except that it reads the clock.

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

# Log fields that must be equal where a log is returned twice; nodes add fields of their own.
_CONTENT = ("address", "topics", "data", "blockHash", "transactionHash", "transactionIndex")
# Block number, block hash, transaction hash and transaction index.
_TxPosition = tuple[str, str, str, str]
_tx_position = itemgetter("blockNumber", "blockHash", "transactionHash", "transactionIndex")
# The EVM has LOG0 to LOG4.
_MOST_TOPICS = 4
# Seconds that a reported time may be after the local clock.
_MOST_AHEAD = 86_400


def validate_logs(answers: Sequence[tuple[LogFilter | None, object]], *, first: int, last: int) -> list[Log]:
    """Return all logs in the responses for one block range, each log once, in chain order.

    Each response comes with its request's filter; None matches every log. Raises RetryableError where a log is
    malformed, was not requested, or contradicts another one.
    """
    log_by_position: dict[int, Log] = {}
    # Logs share most hashes, and a set look-up is faster than validating each again.
    valid_hashes: set[str] = set()
    numbers: dict[_TxPosition, int] = {}
    for log_filter, answer in answers:
        for entry in parse_list(answer, of="logs"):
            log = parse_object(entry, of="a log")
            _check_source(log, valid_hashes=valid_hashes)
            if log.get("removed", False) is not False:
                raise MalformedResponseError("a log that was removed")
            parse_data(log.get("data"))
            number = _parse_tx_position(log, numbers=numbers, valid_hashes=valid_hashes)
            if not first <= number <= last or (log_filter is not None and not log_filter.matches(log)):
                raise RetryableError("a log that was not requested")
            position = number * INDEX_LIMIT + parse_quantity(log.get("logIndex"), below=INDEX_LIMIT)
            earlier = log_by_position.setdefault(position, log)
            if earlier is not log and any(earlier[name] != log[name] for name in _CONTENT):
                raise RetryableError("two logs in one place")
    ordered = [log_by_position[position] for position in sorted(log_by_position)]
    _check_order(ordered)
    return ordered


def parse_receipt_logs(receipts: object) -> tuple[list[Log], int]:
    """Return all logs of receipts, and the bloom filter that they make. Raises RetryableError where one is malformed.

    This validates only addresses and topics, which make the filter; `validate_logs` does the rest.
    """
    logs: list[Log] = []
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
                # A list or an object is unhashable, so that it can't be a cache key.
                raise MalformedResponseError("something else in the place of an address or a topic") from error
            logs.append(log)
    return logs, bloom


def parse_receipt_senders(receipts: object) -> dict[str, object]:
    """Return transaction hash -> sender for receipts in their order; senders are not validated.

    Raises RetryableError if a receipt is malformed.
    """
    entries = (parse_object(receipt, of="a receipt") for receipt in parse_list(receipts, of="receipts"))
    return {parse_hash(receipt.get("transactionHash")): receipt.get("from") for receipt in entries}


def parse_block_transactions(block: object, header: BlockHeader, *, full: bool) -> dict[str, object]:
    """Return transaction hash -> sender for a block's transactions in their order; senders are not validated.

    Senders are None unless the block was requested with full transactions. Raises RetryableError if the block is
    malformed, or is not the header's block.
    """
    if read_header(block, number=header.number).hash != header.hash:
        raise RetryableError("another block than the requested one")
    entries = parse_list(parse_object(block, of="a block").get("transactions"), of="transactions")
    if not full:
        return dict.fromkeys(map(parse_hash, entries))
    transactions = (parse_object(entry, of="a transaction") for entry in entries)
    return {parse_hash(transaction.get("hash")): transaction.get("from") for transaction in transactions}


# Validated and hashed at once, and cached, because a block's logs repeat most addresses and topics.
@lru_cache(maxsize=16_384)
def _address_mask(text: object) -> int:
    return bloom_mask(parse_log_address(text).lower())


@lru_cache(maxsize=16_384)
def _topic_mask(text: object) -> int:
    return bloom_mask(parse_hash(text))


def validate_block_hashes(logs: Iterable[Log], hashes: Mapping[int, str]) -> None:
    """Raise RetryableError if a log's block hash differs from the expected hash at its block number."""
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
    """Raise RetryableError if a log's transaction is not at its index in the block's transactions."""
    for log in logs:
        index = int(log["transactionIndex"], 16)
        if index >= len(tx_hashes) or tx_hashes[index] != log["transactionHash"]:
            raise RetryableError("a log of a transaction that is not in the block")


def filter_watched(logs: Iterable[Log], filters: Collection[LogFilter]) -> list[Log]:
    """Return the logs that match any of the filters."""
    # Most logs in a receipt, such as transfers, have another first topic.
    filters_by_topic: dict[str, list[LogFilter]] = {}
    for log_filter in filters:
        for topic in log_filter.topics:
            filters_by_topic.setdefault(topic, []).append(log_filter)
    watched = []
    for log in logs:
        topics = log["topics"]
        for log_filter in filters_by_topic.get(topics[0], ()) if topics else ():
            if log_filter.matches(log):
                watched.append(log)
                break
    return watched


def reported_times(logs: Iterable[Log]) -> dict[str, int]:
    """Return block hash -> Unix seconds for blocks whose logs all report the same time.

    Many nodes lack `blockTimestamp`, which is recent; some write 0 for an unknown time, and some no hex. A time before
    the day of Ethereum's first block, or more than a day after now, counts as not reported; so do all times if one is
    out of order.
    """
    time_by_hash: dict[str, int] = {}
    numbers: dict[str, int] = {}
    before: tuple[str, object] | None = None
    for log in logs:
        reported = log["blockHash"], log.get("blockTimestamp")
        if reported != before:
            block_hash, seconds = reported[0], _read_time(reported[1])
            numbers[block_hash] = int(log["blockNumber"], 16)
            time_by_hash[block_hash] = seconds if time_by_hash.get(block_hash, seconds) == seconds else 0
            before = reported
    by_number = sorted(time_by_hash, key=numbers.__getitem__)
    times = {block_hash: time_by_hash[block_hash] for block_hash in by_number if time_by_hash[block_hash]}
    # If times go back, it is unknown which are wrong.
    return times if list(times.values()) == sorted(times.values()) else {}


def _parse_tx_position(log: Mapping[str, Any], *, numbers: dict[_TxPosition, int], valid_hashes: set[str]) -> int:
    """Validate the transaction position of a log and return its block number.

    `numbers` caches block numbers by validated position, because a transaction's logs share it. `valid_hashes` caches
    validated hashes.
    """
    try:
        position = _tx_position(log)
        number = numbers.get(position)
    except (KeyError, TypeError) as error:
        raise MalformedResponseError("a log without its place") from error
    if number is None:
        block_number, block_hash, tx_hash, index = position
        if block_hash not in valid_hashes:
            valid_hashes.add(parse_hash(block_hash))
        valid_hashes.add(parse_hash(tx_hash))
        parse_quantity(index, below=INDEX_LIMIT)
        number = numbers[position] = parse_block_number(block_number)
    return number


def _check_source(log: Mapping[str, Any], *, valid_hashes: set[str]) -> None:
    """Validate a log's address and topics. `valid_hashes` caches validated hashes."""
    topics = parse_list(log.get("topics"), of="topics")
    if len(topics) > _MOST_TOPICS:
        raise MalformedResponseError("more topics than a log has")
    for text in topics:
        if not isinstance(text, str) or text not in valid_hashes:
            valid_hashes.add(parse_hash(text))
    parse_log_address(log.get("address"))


def _check_order(logs: Sequence[Log]) -> None:
    """Raise RetryableError unless each number has one block, and transactions are in order."""
    numbers: dict[str, str] = {}
    before, index_before = None, -1
    for position in map(_tx_position, logs):
        if position == before:
            continue
        number, block_hash, tx_hash, index_text = position
        if not number == numbers.setdefault(block_hash, number) == numbers.setdefault(tx_hash, number):
            raise RetryableError("one block or transaction at two numbers")
        index = int(index_text, 16)
        if before is not None and before[0] == number:
            if before[1] != block_hash:
                raise RetryableError("logs of two blocks with one number")
            if before[2] == tx_hash or index <= index_before:
                raise RetryableError("logs whose transactions are out of order")
        before, index_before = position, index


def _read_time(text: object) -> int:
    try:
        seconds = parse_quantity(text)
    except MalformedResponseError:
        return 0
    return seconds if FIRST_TIME <= seconds <= time.time() + _MOST_AHEAD else 0
