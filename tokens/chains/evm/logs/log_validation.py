"""Logs as nodes give them, checked field by field and against each other before anybody decodes them. Pure.

A node that lags, sits on another fork, or has a proxy with a bad cache before it gives answers that look whole. What
can be seen of that in an answer itself is seen here; logs that are missing can not.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from config.http.json_client import Retryable
from tokens.chains.abi.codec import Log
from tokens.chains.evm.logs.log_filters import LogFilter
from tokens.chains.rpc.quantities import (
    YEAR_10000,
    Malformed,
    read_address,
    read_data,
    read_hash,
    read_list,
    read_number,
    read_object,
)

# What of a log must be the same where it is told twice; nodes add fields of their own.
_CONTENT = ("address", "topics", "data", "blockHash", "transactionHash", "transactionIndex")
# The EVM has LOG0 to LOG4.
_MOST_TOPICS = 4
# No block has so many logs; PostgreSQL's integers end here.
_MOST_LOGS = 2**31


def check_logs(answers: Sequence[tuple[LogFilter | None, object]], *, first: int, last: int) -> list[Log]:
    """All logs of the answers about one run of blocks, each once, in the chain's order.

    Each answer stands with the filter that was asked with; None is everything. Raises Retryable where a log is
    malformed, was not asked for, or contradicts another one.
    """
    found: dict[int, Log] = {}
    # Logs share most of their hashes, and checking one takes longer than finding it here.
    known: set[str] = set()
    for asked, answer in answers:
        for entry in read_list(answer, of="logs"):
            log = read_object(entry, of="a log")
            number, index = _check_log(log, known=known)
            if not first <= number <= last or (asked is not None and not asked.takes(log)):
                raise Retryable("a log that was not asked for")
            told = found.setdefault(number * _MOST_LOGS + index, log)
            if told is not log and any(told[name] != log[name] for name in _CONTENT):
                raise Retryable("two logs in one place")
    ordered = [found[place] for place in sorted(found)]
    _check_order(ordered)
    return ordered


def check_hashes(logs: Iterable[Log], hashes: Mapping[int, str]) -> None:
    """Raises Retryable where a log is of another block than the one with this hash at its number."""
    for log in logs:
        if hashes.get(int(log["blockNumber"], 16)) != log["blockHash"]:
            raise Retryable("a log of a block that was dropped")


def check_places(logs: Iterable[Log], block: Mapping[str, Any]) -> None:
    """Raises Retryable where a log is of a transaction that the block does not hold in that place."""
    hashes = read_list(block.get("transactions"), of="transactions")
    for log in logs:
        place = int(log["transactionIndex"], 16)
        if place >= len(hashes) or hashes[place] != log["transactionHash"]:
            raise Retryable("a log of a transaction that is not in the block")


def take_watched(logs: Iterable[Log], filters: Collection[LogFilter]) -> list[Log]:
    """Those of the logs that any of the filters asks for."""
    return [log for log in logs if any(asked.takes(log) for asked in filters)]


def told_times(logs: Iterable[Log]) -> dict[str, int]:
    """Block hash -> Unix seconds, of the blocks whose logs tell their time, all of them the same.

    `blockTimestamp` is newer than many nodes; some write 0 where they don't know it, and some no hex.
    """
    found: dict[str, int] = {}
    for log in logs:
        time = _read_time(log.get("blockTimestamp"))
        found[log["blockHash"]] = time if found.get(log["blockHash"], time) == time else 0
    return {block_hash: time for block_hash, time in found.items() if time}


def _check_log(log: Mapping[str, Any], *, known: set[str]) -> tuple[int, int]:
    """The log's place: the number of its block, and its index in there. `known` are hashes that are well formed."""
    if log.get("removed", False) is not False:
        raise Malformed("a log that was removed")
    topics = read_list(log.get("topics"), of="topics")
    if len(topics) > _MOST_TOPICS:
        raise Malformed("more topics than a log has")
    for text in (log.get("blockHash"), log.get("transactionHash"), *topics):
        if not isinstance(text, str) or text not in known:
            known.add(read_hash(text))
    read_address(log.get("address"))
    read_data(log.get("data"))
    read_number(log.get("transactionIndex"), below=_MOST_LOGS)
    return read_number(log.get("blockNumber")), read_number(log.get("logIndex"), below=_MOST_LOGS)


def _check_order(logs: Sequence[Log]) -> None:
    """Logs in order must be of one block per number, and of transactions that follow each other."""
    numbers: dict[str, str] = {}
    for log in logs:
        for name in ("blockHash", "transactionHash"):
            if numbers.setdefault(log[name], log["blockNumber"]) != log["blockNumber"]:
                raise Retryable("one block or transaction at two numbers")
    for before, log in zip(logs, logs[1:], strict=False):
        if before["blockNumber"] != log["blockNumber"]:
            continue
        if before["blockHash"] != log["blockHash"]:
            raise Retryable("logs of two blocks with one number")
        same = before["transactionHash"] == log["transactionHash"]
        step = int(log["transactionIndex"], 16) - int(before["transactionIndex"], 16)
        if step < 0 or same != (step == 0):
            raise Retryable("logs whose transactions are out of order")


def _read_time(text: object) -> int:
    try:
        return read_number(text, below=YEAR_10000)
    except Malformed:
        return 0
