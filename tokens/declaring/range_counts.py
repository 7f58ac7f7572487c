"""Counts over blocks by declaration: launches, later events, and logs that can't be decoded or that none names."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.abi.codec import AbiEvent, Log
from tokens.chains.abi.paths import Path, part_at
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.generations.event_decoding import decode_event
from tokens.chains.evm.logs.curve_trades import read_curve_trade
from tokens.chains.evm.logs.log_places import place_of
from tokens.chains.evm.logs.log_validation import validate_logs
from tokens.chains.evm.logs.pool_logs import PoolLogs
from tokens.chains.evm.logs.swap_fees import attach_reports
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.registry.launchpads import CurveTrade, SwapPart, TokenChange, TokenClaim, TokenEventDeclaration
from tokens.chains.rpc.quantities import parse_block_number
from tokens.chains.rpc.responses import CallFailure, RejectionKind, require_results
from tokens.chains.types import EventLog
from tokens.declaring.declared_sources import (
    Source,
    launch_sources,
    named_events,
    own_contracts,
    source_of,
    trusted_emitters,
)

_RANGE = re.compile("([0-9]{1,18}):([0-9]{1,18})")
# Nodes refuse longer address lists.
_MOST_ADDRESSES = 500

_Later = CurveTrade | SwapPart | TokenEventDeclaration
_KINDS: Mapping[type, str] = {
    CurveTrade: "trade",
    SwapPart: "part of swaps",
    TokenChange: "change",
    TokenClaim: "claim",
}


@dataclass(kw_only=True)
class LaterCounts:
    """Counts for a declared trade, swap part, change or claim."""

    kind: str
    declared: _Later
    logs: int = 0
    undecodable: int = 0
    # Logs about tokens launched in the counted blocks; other tokens are not read.
    of_launches: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class RangeCounts:
    """Counts by emitter and topic0."""

    first: int
    last: int
    # Declared launch events.
    events: Mapping[Source, AbiEvent]
    # The address is empty for events that tokens, their pools or hooks emit.
    later: Mapping[Source, list[LaterCounts]]
    logs: Counter[Source] = field(default_factory=Counter)
    launches: Counter[Source] = field(default_factory=Counter)
    undecodable: Counter[Source] = field(default_factory=Counter)
    # Trusted emitters' logs that no declaration names.
    unnamed: Counter[Source] = field(default_factory=Counter)
    # The launches' contracts, lower case; and the addresses and ids that later events use to name their tokens.
    own: set[str] = field(default_factory=set)
    subjects: set[str | None] = field(default_factory=set)


def parse_range(text: str) -> tuple[int, int]:
    """Parse FROM:TO. Raises ValueError."""
    match = _RANGE.fullmatch(text)
    if match is None or int(match[1]) > int(match[2]):
        raise ValueError(f"--range {text}: expected two block numbers, the lower one first, such as 100:199")
    return int(match[1]), int(match[2])


def count_range(chain: Chain, first: int, last: int) -> RangeCounts:
    """Count in the blocks `first` to `last`, in ranges as long as nodes accept.

    Logs by tokens, their pools and hooks are read only for launches in these blocks. Raises ValueError for blocks above
    the newest one, and NodeUnavailableError.
    """
    if last > (head := chain.read_head()):
        raise ValueError(f"--range {first}:{last}: the newest block is {head}")
    counts = RangeCounts(first=first, last=last, events=launch_sources(chain.info), later=_later_counts(chain.info))
    named, trusted = named_events(chain.info), trusted_emitters(chain.info)
    for start, end, logs in _read_ranges(chain, counts, addresses=trusted):
        _count_launches(counts, chain, start, end, {_place(log): source_of(log) for log in logs})
        for log in logs:
            _count_log(counts, chain.info, log, named)
    topics, own = sorted({topic0 for emitter, topic0 in counts.later if not emitter}), sorted(counts.own)
    for start in range(0, len(own) if topics else 0, _MOST_ADDRESSES):
        for _, _, logs in _read_ranges(chain, counts, addresses=own[start : start + _MOST_ADDRESSES], topics=topics):
            for log in logs:
                _count_later(counts, chain.info, log, ("", source_of(log)[1]))
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
    # Several contracts may emit an event.
    for each in {id(each): each for later in counts.later.values() for each in later}.values():
        yield (
            f"  {each.kind} {each.declared.event.signature}: {each.logs} logs, {each.logs - each.undecodable} decoded,"
            f" {each.undecodable} can't be decoded, {each.of_launches} about these launches"
        )
    for (emitter, topic0), logs in counts.undecodable.items():
        if (emitter, topic0) not in counts.events:
            yield f"  can't be decoded: {logs} logs of {checksum_address(emitter)} with topic0 {topic0}"
    for (emitter, topic0), logs in (+counts.unnamed).most_common():
        yield f"  no declaration names {logs} logs of {checksum_address(emitter)} with topic0 {topic0 or 'none'}"


def _later_counts(chain: ChainInfo) -> dict[Source, list[LaterCounts]]:
    indexed = {pad.name for pad in chain.launchpads}
    events: Sequence[Mapping[Source, Sequence[_Later]]] = (chain.curve_trades, chain.swap_parts, chain.token_events)
    counts = dict[int, LaterCounts]()
    by_source = defaultdict[Source, list[LaterCounts]](list)
    for source, declarations in (item for by_kind in events for item in by_kind.items()):
        for declared in declarations:
            if declared.launchpad in indexed:
                new = LaterCounts(kind=_KINDS[type(declared)], declared=declared)
                by_source[source].append(counts.setdefault(id(declared), new))
    return dict(by_source)


def _read_ranges(
    chain: Chain, counts: RangeCounts, *, addresses: Collection[str], topics: Collection[str] = ()
) -> Iterator[tuple[int, int, list[Log]]]:
    """Yield consecutive ranges: first block, last block, and the addresses' logs; without `topics`, with any topic."""
    first, last = counts.first, counts.last
    while first <= last:
        end = min(last, first + chain.range_blocks() - 1)
        logs = _read_logs(chain, first, end, addresses=addresses, topics=topics)
        if isinstance(logs, CallFailure):
            chain.ranges.shrink(end - first + 1, suggested=logs.blocks)
            continue
        chain.ranges.record_range(end - first + 1, logs=len(logs))
        yield first, end, logs
        first = end + 1


def _read_logs(
    chain: Chain, first: int, last: int, *, addresses: Collection[str], topics: Collection[str]
) -> list[Log] | CallFailure:
    """Return all logs by the addresses, or a node's rejection if the range is too long."""
    query: dict[str, Any] = {"address": sorted(addresses), "fromBlock": hex(first), "toBlock": hex(last)}
    if topics:
        query["topics"] = [sorted(topics)]

    def parse(results: list[Any]) -> list[Log] | CallFailure:
        head, logs = results
        if isinstance(logs, CallFailure) and logs.kind is RejectionKind.RANGE and last > first:
            return logs
        require_results(results)
        if parse_block_number(head) < last:
            raise RetryableError("it is behind the range")
        return validate_logs([(None, logs)], first=first, last=last)

    return chain.rpc.query([("eth_blockNumber", ()), ("eth_getLogs", (query,))], parse=parse)


def _count_log(counts: RangeCounts, chain: ChainInfo, log: Log, named: Mapping[Source, AbiEvent]) -> None:
    source = source_of(log)
    if source in counts.later:
        _count_later(counts, chain, log, source)
        if source not in counts.events:
            return
    event = named.get(source)
    if event is None:
        # A launchpad's contract may also be its launches' hook.
        counts.unnamed[source] += ("", source[1]) not in counts.later
        return
    counts.logs[source] += 1
    try:
        event.decode(log)
    except LogDecodingError:
        counts.undecodable[source] += 1


def _count_later(counts: RangeCounts, chain: ChainInfo, log: Log, source: Source) -> None:
    for later in counts.later[source]:
        later.logs += 1
        try:
            subject = _decode_later(chain, log, later.declared)
        except LogDecodingError:
            later.undecodable += 1
        else:
            later.of_launches += subject in counts.subjects


def _decode_later(chain: ChainInfo, log: Log, declared: _Later) -> str:
    """Decode a log as the service does, and return the address or id that names its token. Raises LogDecodingError."""
    path: Path | None
    emitter, index = checksum_address(log["address"]), int(log["logIndex"], 16)
    match declared:
        case CurveTrade():
            path = declared.token
            read_curve_trade(log, declared, place_of(log, index, times={}, senders={}))
        case SwapPart():
            path = declared.pool
            for undecodable in attach_reports(PoolLogs(), [log], chain=chain).undecodable:
                raise LogDecodingError(undecodable.reason)
        case _:
            path = declared.subject.path
            decode_event(EventLog(emitter=emitter, log_index=index, raw=log, declared=declared))
    named = part_at(declared.event.decode(log), path) if path else emitter
    is_nft = not isinstance(declared, CurveTrade | SwapPart) and declared.subject.key == "nft_id"
    return f"{emitter}/{named}" if is_nft else str(named)


def _count_launches(
    counts: RangeCounts, chain: Chain, first: int, last: int, sources: dict[tuple[str, int], Source]
) -> None:
    """Count the launches that reading these blocks would store."""
    facts = chain.read_range(first, last, addresses=trusted_emitters(chain.info))
    launches = [launch for transaction in facts.transactions for launch in transaction.launches]
    counts.own.update(own_contracts(launches))
    for launch in launches:
        pool = launch.pool.address if launch.pool else None
        counts.subjects.update((launch.token, pool, launch.next_pool, launch.nft))
        if source := sources.get((launch.tx_hash, launch.log_index)):
            counts.launches[source] += 1


def _place(log: Log) -> tuple[str, int]:
    return log["transactionHash"], int(log["logIndex"], 16)
