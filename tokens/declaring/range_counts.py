"""Counts over blocks: launches of declared events, logs that can't be decoded, and logs that no declaration names."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.logs.log_validation import validate_logs
from tokens.chains.rpc.quantities import parse_block_number
from tokens.chains.rpc.responses import CallFailure, RejectionKind, require_results
from tokens.declaring.declared_sources import (
    Source,
    launch_sources,
    named_events,
    source_of,
    trusted_emitters,
)

_RANGE = re.compile("([0-9]{1,18}):([0-9]{1,18})")


@dataclass(frozen=True, kw_only=True, slots=True)
class RangeCounts:
    """Counts by emitter and topic0."""

    first: int
    last: int
    # Declared launch events.
    events: dict[Source, AbiEvent]
    logs: Counter[Source] = field(default_factory=Counter)
    launches: Counter[Source] = field(default_factory=Counter)
    undecodable: Counter[Source] = field(default_factory=Counter)
    # Logs of trusted emitters that no declaration names.
    unnamed: Counter[Source] = field(default_factory=Counter)


def parse_range(text: str) -> tuple[int, int]:
    """Parse FROM:TO. Raises ValueError."""
    found = _RANGE.fullmatch(text)
    if found is None or int(found[1]) > int(found[2]):
        raise ValueError(f"--range {text}: expected two block numbers, the lower one first, such as 100:199")
    return int(found[1]), int(found[2])


def count_range(chain: Chain, first: int, last: int) -> RangeCounts:
    """Count in the blocks `first` to `last`, in ranges as long as nodes accept.

    Raises ValueError for blocks beyond the newest one, and NodeUnavailableError.
    """
    if last > (head := chain.read_head()):
        raise ValueError(f"--range {first}:{last}: the newest block is {head}")
    counts = RangeCounts(first=first, last=last, events=dict(launch_sources(chain.info)))
    named = named_events(chain.info)
    while first <= last:
        end = min(last, first + chain.range_blocks() - 1)
        logs = _read_logs(chain, first, end)
        if isinstance(logs, CallFailure):
            chain.ranges.shrink(end - first + 1, suggested=logs.blocks)
            continue
        chain.ranges.record_range(end - first + 1, logs=len(logs))
        _count_logs(counts, named, logs)
        _count_launches(counts, chain, first, end, {_place(log): source_of(log) for log in logs})
        first = end + 1
    return counts


def count_lines(counts: RangeCounts) -> Iterator[str]:
    """Yield the counts in words."""
    yield f"blocks {counts.first} to {counts.last}: {counts.launches.total()} launches"
    for source, event in counts.events.items():
        no_launch = counts.logs[source] - counts.launches[source] - counts.undecodable[source]
        yield (
            f"  {event.signature} of {checksum_address(source[0])}: {counts.logs[source]} logs,"
            f" {counts.launches[source]} launches, {counts.undecodable[source]} can't be decoded,"
            f" {no_launch} are no launch"
        )
    for (emitter, topic0), logs in counts.undecodable.items():
        if (emitter, topic0) not in counts.events:
            yield f"  can't be decoded: {logs} logs of {checksum_address(emitter)} with topic0 {topic0}"
    for (emitter, topic0), logs in counts.unnamed.most_common():
        yield f"  no declaration names {logs} logs of {checksum_address(emitter)} with topic0 {topic0 or 'none'}"


def _read_logs(chain: Chain, first: int, last: int) -> list[Log] | CallFailure:
    """Return all logs of the trusted emitters, or a node's rejection of the range's length."""
    query = {"address": sorted(trusted_emitters(chain.info)), "fromBlock": hex(first), "toBlock": hex(last)}

    def parse(results: list[Any]) -> list[Log] | CallFailure:
        head, logs = results
        if isinstance(logs, CallFailure) and logs.kind is RejectionKind.RANGE and last > first:
            return logs
        require_results(results)
        if parse_block_number(head) < last:
            raise RetryableError("it is behind the range")
        return validate_logs([(None, logs)], first=first, last=last)

    return chain.rpc.query([("eth_blockNumber", ()), ("eth_getLogs", (query,))], parse=parse)


def _count_logs(counts: RangeCounts, named: Mapping[Source, AbiEvent], logs: list[Log]) -> None:
    for log in logs:
        source = source_of(log)
        event = named.get(source)
        if event is None:
            counts.unnamed[source] += 1
            continue
        counts.logs[source] += 1
        try:
            event.decode(log)
        except LogDecodingError:
            counts.undecodable[source] += 1


def _count_launches(
    counts: RangeCounts, chain: Chain, first: int, last: int, sources: dict[tuple[str, int], Source]
) -> None:
    """Count the launches that a reading of the blocks stores."""
    facts = chain.read_range(first, last, addresses=trusted_emitters(chain.info))
    for transaction in facts.transactions:
        for launch in transaction.launches:
            if source := sources.get((launch.tx_hash, launch.log_index)):
                counts.launches[source] += 1


def _place(log: Log) -> tuple[str, int]:
    return log["transactionHash"], int(log["logIndex"], 16)
