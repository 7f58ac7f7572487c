"""Validation of logs from untrusted nodes, field by field and against each other. Pure.

A node that lags, follows another fork, or sits behind a proxy with a bad cache returns responses that look complete.
Faults visible in a response itself are detected here; missing logs can't be.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.abi.codec import Log
from tokens.chains.evm.logs.log_filters import LogFilter
from tokens.chains.rpc.quantities import (
    YEAR_10000,
    MalformedResponseError,
    parse_data,
    parse_hash,
    parse_list,
    parse_log_address,
    parse_object,
    parse_quantity,
)

# Fields of a log that must be equal where it is returned twice; nodes add fields of their own.
_CONTENT = ("address", "topics", "data", "blockHash", "transactionHash", "transactionIndex")
# The EVM has LOG0 to LOG4.
_MOST_TOPICS = 4
# Exclusive limit of indexes; PostgreSQL's integers end here, and no block has so many logs.
_MOST_LOGS = 2**31


def validate_logs(answers: Sequence[tuple[LogFilter | None, object]], *, first: int, last: int) -> list[Log]:
    """Return all logs of the responses about one run of blocks, each once, in chain order.

    Each response comes with the filter of its request; None is everything. Raises RetryableError where a log is
    malformed, was not requested, or contradicts another one.
    """
    found: dict[int, Log] = {}
    # Logs share most of their hashes, and a set look-up is faster than validating each again.
    known: set[str] = set()
    for log_filter, answer in answers:
        for entry in parse_list(answer, of="logs"):
            log = parse_object(entry, of="a log")
            number, index = _check_log(log, known=known)
            if not first <= number <= last or (log_filter is not None and not log_filter.matches(log)):
                raise RetryableError("a log that was not requested")
            told = found.setdefault(number * _MOST_LOGS + index, log)
            if told is not log and any(told[name] != log[name] for name in _CONTENT):
                raise RetryableError("two logs in one place")
    ordered = [found[place] for place in sorted(found)]
    _check_order(ordered)
    return ordered


def parse_receipt_logs(receipts: object) -> list[Log]:
    """Return all logs of receipts. Raises RetryableError where one is malformed.

    Only addresses and topics are validated, which make the block's bloom filter; `validate_logs` does the rest.
    """
    known: set[str] = set()
    found: list[Log] = []
    for receipt in parse_list(receipts, of="receipts"):
        for entry in parse_list(parse_object(receipt, of="a receipt").get("logs"), of="logs"):
            log = parse_object(entry, of="a log")
            _check_source(log, known=known)
            found.append(log)
    return found


def validate_block_hashes(logs: Iterable[Log], hashes: Mapping[int, str]) -> None:
    """Raise RetryableError if a log is of another block than the one with this hash at its number."""
    for log in logs:
        if hashes.get(int(log["blockNumber"], 16)) != log["blockHash"]:
            raise RetryableError("a log of a block that was dropped")


def validate_transaction_indexes(logs: Iterable[Log], block: Mapping[str, Any]) -> None:
    """Raise RetryableError if a log's transaction is not in the block at its index."""
    hashes = parse_list(block.get("transactions"), of="transactions")
    for log in logs:
        place = int(log["transactionIndex"], 16)
        if place >= len(hashes) or hashes[place] != log["transactionHash"]:
            raise RetryableError("a log of a transaction that is not in the block")


def filter_watched(logs: Iterable[Log], filters: Collection[LogFilter]) -> list[Log]:
    """Return the logs that match any of the filters."""
    return [log for log in logs if any(log_filter.matches(log) for log_filter in filters)]


def reported_times(logs: Iterable[Log]) -> dict[str, int]:
    """Return block hash -> Unix seconds, of the blocks for which all logs report the same time.

    `blockTimestamp` is newer than many nodes; some write 0 for an unknown time, and some no hex.
    """
    found: dict[str, int] = {}
    for log in logs:
        time = _read_time(log.get("blockTimestamp"))
        found[log["blockHash"]] = time if found.get(log["blockHash"], time) == time else 0
    return {block_hash: time for block_hash, time in found.items() if time}


def _check_log(log: Mapping[str, Any], *, known: set[str]) -> tuple[int, int]:
    """Validate a log and return its block number and log index. `known` are hashes validated before."""
    if log.get("removed", False) is not False:
        raise MalformedResponseError("a log that was removed")
    _check_source(log, known=known)
    for text in (log.get("blockHash"), log.get("transactionHash")):
        if not isinstance(text, str) or text not in known:
            known.add(parse_hash(text))
    parse_data(log.get("data"))
    parse_quantity(log.get("transactionIndex"), below=_MOST_LOGS)
    return parse_quantity(log.get("blockNumber")), parse_quantity(log.get("logIndex"), below=_MOST_LOGS)


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
    for log in logs:
        for name in ("blockHash", "transactionHash"):
            if numbers.setdefault(log[name], log["blockNumber"]) != log["blockNumber"]:
                raise RetryableError("one block or transaction at two numbers")
    for before, log in zip(logs, logs[1:], strict=False):
        if before["blockNumber"] != log["blockNumber"]:
            continue
        if before["blockHash"] != log["blockHash"]:
            raise RetryableError("logs of two blocks with one number")
        same = before["transactionHash"] == log["transactionHash"]
        step = int(log["transactionIndex"], 16) - int(before["transactionIndex"], 16)
        if step < 0 or same != (step == 0):
            raise RetryableError("logs whose transactions are out of order")


def _read_time(text: object) -> int:
    try:
        return parse_quantity(text, below=YEAR_10000)
    except MalformedResponseError:
        return 0
