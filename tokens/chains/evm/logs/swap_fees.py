"""Logs beside the swaps of v4's pools: conversions of fees, fees that hooks take, and parts that hooks fill. Pure.

A locker swaps itself, or in a collection of its own through a router. So the report identifies the swap, and no address
does. A hook mints its fee for itself inside of the PoolManager, within the swap that pays it.
A declared hook may fill a part of a swap, or all of it, before the pool does; `Swap` lacks that part.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from tokens.chains.abi import codec
from tokens.chains.abi.codec import Log
from tokens.chains.abi.paths import part_at
from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.logs.curve_trades import bounded_amount
from tokens.chains.evm.logs.log_places import address_in, checksum_text, undecodable_log
from tokens.chains.evm.logs.pool_logs import PoolLogs
from tokens.chains.pool_types import Conversion, HookFee, Swap, UndecodableLog, is_v4_pool, position_of
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.registry.launchpads import SwapPart
from tokens.chains.rpc.quantities import MalformedResponseError

# Of a locker, and of the PoolManager, for ERC-6909.
CONVERSION_TOPIC = codec.load_abi("v4_fees").event("FeesSwapped").topic0
HOOK_FEE_TOPIC = codec.load_abi("uniswap_v4").event("Transfer").topic0
FEE_TOPICS = frozenset({CONVERSION_TOPIC, HOOK_FEE_TOPIC})


class _HookReport(NamedTuple):
    """A part of a swap that a hook filled, with the signs of `Swap` in pool_types, and what it took of the trader."""

    pool: str
    amounts: tuple[int, int]
    # None where the event has none.
    fees: tuple[int, int] | None
    # The launchpad whose declaration this is, where several declare the event; else None.
    launchpad: str | None


# The sender of what is minted.
MINTED = "0x" + "00" * 32
_WORD_DIGITS = 64
# Index of a log, and what it reports.
_Report = tuple[int, Conversion | HookFee | _HookReport]


def part_topics(chain: ChainInfo) -> frozenset[str]:
    """Return the topic0 values of a chain's declared events about parts of swaps."""
    return frozenset(topic0 for _, topic0 in chain.swap_parts)


@cache
def report_topics(chain: ChainInfo) -> frozenset[str]:
    """Return the topic0 values of what is reported beside swaps."""
    return FEE_TOPICS | part_topics(chain)


def attach_reports(found: PoolLogs, logs: Iterable[Log], *, chain: ChainInfo) -> PoolLogs:
    """Return the logs of pools, the swaps with what validated logs with `report_topics` report; all in chain order.

    Conversions of other contracts than lockers are left to the caller: they have the address of their emitter. Parts
    count by the emitters of their launchpads' launches; malformed ones are undecodable. Where launchpads share an
    emitter, a swap comes once without its parts, and once with those of each launchpad. Raises MalformedResponseError.
    """
    reports = defaultdict[str, list[_Report]](list)
    manager = (chain.v4_pool_manager or "").lower()
    undecodable: list[UndecodableLog] = []
    for log in logs:
        parts = chain.swap_parts.get((log["address"].lower(), log["topics"][0]), ())
        own = _read_parts(log, parts) if parts else [_read_report(log, manager)]
        if isinstance(own, UndecodableLog):
            undecodable.append(own)
            continue
        for report in own:
            if report is not None:
                reports[log["transactionHash"]].append((int(log["logIndex"], 16), report))
    swaps, declared = list(found.swaps), list[Swap]()
    for tx_hash, places in _places(found.swaps, reports).items():
        bare = {place: swaps[place] for place in places}
        for place, swap in _of_transaction(bare, _of_launchpad(reports[tx_hash], None)):
            swaps[place] = swap
        launchpads = {launchpad for _, report in reports[tx_hash] if (launchpad := _launchpad_of(report))}
        for launchpad in sorted(launchpads):
            read = _of_transaction(bare, _of_launchpad(reports[tx_hash], launchpad))
            declared += [swap._replace(launchpad=launchpad) for _, swap in read]
    if declared:
        swaps = sorted([*swaps, *declared], key=position_of)
    return replace(found, swaps=swaps, undecodable=[*found.undecodable, *undecodable])


def _launchpad_of(report: Conversion | HookFee | _HookReport) -> str | None:
    return report.launchpad if isinstance(report, _HookReport) else None


def _of_launchpad(reports: Iterable[_Report], launchpad: str | None) -> list[_Report]:
    """Return the reports that no launchpad shares, and those by the declaration of this one."""
    return [(index, report) for index, report in reports if _launchpad_of(report) in (None, launchpad)]


def _places(swaps: Sequence[Swap], reports: Mapping[str, object]) -> dict[str, list[int]]:
    """Return transaction -> places of its v4 swaps, of transactions with reports."""
    places: dict[str, list[int]] = {}
    if reports:
        for place, swap in enumerate(swaps):
            if swap.tx_hash in reports and is_v4_pool(swap.pool):
                places.setdefault(swap.tx_hash, []).append(place)
    return places


def _of_transaction(swaps: Mapping[int, Swap], reports: Sequence[_Report]) -> Iterator[tuple[int, Swap]]:
    fees = [(index, report) for index, report in reports if isinstance(report, HookFee)]
    converted, parts = _last_swaps(swaps, reports), _parts(swaps, reports)
    indexes = [swap.log_index for swap in swaps.values()]
    before, after = [-1, *indexes], [*indexes[1:], None]
    for (place, swap), first, end in zip(swaps.items(), before, after, strict=False):
        own = swap.log_index
        of_swap = parts.get(place, ())
        fees_of_hook = [part.fees for part in of_swap if part.fees]
        yield (
            place,
            swap._replace(
                amount0=swap.amount0 + sum(part.amounts[0] for part in of_swap),
                amount1=swap.amount1 + sum(part.amounts[1] for part in of_swap),
                reported_fees=(sum(fee for fee, _ in fees_of_hook), sum(fee for _, fee in fees_of_hook))
                if fees_of_hook
                else None,
                conversions=tuple(converted.get(place, ())),
                fees_before=tuple(fee for index, fee in fees if first < index < own),
                fees_after=tuple(fee for index, fee in fees if own < index and (end is None or index < end)),
            ),
        )


def _last_swaps(swaps: Mapping[int, Swap], reports: Iterable[_Report]) -> dict[int, list[Conversion]]:
    """Return place -> conversions, of the last swap in each pool before each conversion."""
    conversions: dict[int, list[Conversion]] = {}
    for index, report in reports:
        if isinstance(report, Conversion):
            last = {swap.pool: place for place, swap in swaps.items() if swap.log_index < index}
            for place in last.values():
                conversions.setdefault(place, []).append(report)
    return conversions


def _parts(swaps: Mapping[int, Swap], reports: Iterable[_Report]) -> dict[int, list[_HookReport]]:
    """Return place -> the parts of the swap: of the last one before each part in its pool.

    A hook that reports before the pool does has its first part before all swaps of the pool: then of the next one.
    """
    by_pool = defaultdict[str, list[tuple[int, _HookReport]]](list)
    for index, report in reports:
        if isinstance(report, _HookReport):
            by_pool[report.pool].append((index, report))
    parts: dict[int, list[_HookReport]] = {}
    for pool, of_pool in by_pool.items():
        places = {swap.log_index: place for place, swap in swaps.items() if swap.pool == pool}
        if not places:
            continue
        is_before = of_pool[0][0] < min(places)
        for index, report in of_pool:
            before, after = [at for at in places if at < index], [at for at in places if at > index]
            at = after[0] if after and is_before else before[-1]
            parts.setdefault(places[at], []).append(report)
    return parts


def _read_parts(log: Log, parts: Sequence[SwapPart]) -> list[_HookReport] | UndecodableLog:
    """Decode a part by each declaration that it matches; an undecodable log matches none."""
    found, reasons = list[_HookReport](), list[str]()
    for part in parts:
        try:
            found.append(_read_part(log, part, launchpad=part.launchpad if len(parts) > 1 else None))
        except LogDecodingError as error:
            reasons.append(str(error))
    if found:
        return found
    return undecodable_log(log, launchpad=parts[0].launchpad, reason=reasons[0])


def _read_part(log: Log, part: SwapPart, *, launchpad: str | None) -> _HookReport:
    """Decode a part. Raises LogDecodingError."""
    values = part.event.decode(log)
    amounts = (
        -bounded_amount(part_at(values, path)) if path is not None else 0 for path in (part.amount0, part.amount1)
    )
    fees = (sum(abs(bounded_amount(part_at(values, path))) for path in paths) for paths in (part.fee0, part.fee1))
    has_fees = bool(part.fee0 or part.fee1)
    amount0, amount1 = amounts
    fee0, fee1 = fees
    return _HookReport(part_at(values, part.pool), (amount0, amount1), (fee0, fee1) if has_fees else None, launchpad)


def _read_report(log: Log, manager: str) -> Conversion | HookFee | None:
    """Decode a log; None where it reports neither.

    event FeesSwapped(address indexed token, address indexed rewardToken, uint256 amountSwapped,
    address indexed swappedToken, uint256 amountOut), by a locker, and by ERC-6909
    event Transfer(address caller, address indexed sender, address indexed receiver, uint256 indexed id,
    uint256 amount), where the id is a currency's address.
    """
    topics, emitter = log["topics"], log["address"].lower()
    has_shape = len(topics) == 4 and len(log["data"]) == 2 + 2 * _WORD_DIGITS
    if topics[0] == CONVERSION_TOPIC:
        # Any contract may emit it, and then in any form.
        is_of_token = has_shape and topics[1].startswith(MINTED[:26])
        return Conversion(checksum_text(emitter), address_in(topics[1])) if is_of_token else None
    if emitter != manager:
        return None
    if not has_shape:
        raise MalformedResponseError("a transfer in the PoolManager that does not match its event")
    caller, amount = "0x" + log["data"][2 : 2 + _WORD_DIGITS], int(log["data"][2 + _WORD_DIGITS :], 16)
    is_currency = topics[3].startswith(MINTED[:26])
    if topics[1] != MINTED or caller != topics[2] or not is_currency:
        return None
    return HookFee(address_in(caller), address_in(topics[3]), amount)
