"""Logs that report on v4 swaps: fee conversions, hook fees, and swap parts that hooks fill. Pure.

A locker swaps directly, or through a router during its own collection. So only the report identifies the swap; no
address does. A hook mints its fee to itself inside the PoolManager, within the swap that pays it.
A declared hook may fill a swap partly or fully before the pool does; the pool's `Swap` lacks that part.
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

# Lockers emit the first event. The PoolManager emits the second one, for ERC-6909.
CONVERSION_TOPIC = codec.load_abi("v4_fees").event("FeesSwapped").topic0
HOOK_FEE_TOPIC = codec.load_abi("uniswap_v4").event("Transfer").topic0
FEE_TOPICS = frozenset({CONVERSION_TOPIC, HOOK_FEE_TOPIC})


class _HookReport(NamedTuple):
    """Swap part that a hook filled, with the signs of `pool_types.Swap`, and the fees that the hook took."""

    pool: str
    amounts: tuple[int, int]
    # None where the event has no fees.
    fees: tuple[int, int] | None
    # The declaring launchpad where several launchpads declare the event; else None.
    launchpad: str | None


# The zero address as topic: the sender of a mint.
MINTED = "0x" + "00" * 32
_WORD_DIGITS = 64
# Log index and report.
_Report = tuple[int, Conversion | HookFee | _HookReport]


def part_topics(chain: ChainInfo) -> frozenset[str]:
    """Return the topic0 values of a chain's declared swap part events."""
    return frozenset(topic0 for _, topic0 in chain.swap_parts)


@cache
def report_topics(chain: ChainInfo) -> frozenset[str]:
    """Return the topic0 values of all logs that report on swaps."""
    return FEE_TOPICS | part_topics(chain)


def attach_reports(pool_logs: PoolLogs, logs: Iterable[Log], *, chain: ChainInfo) -> PoolLogs:
    """Return the pool logs with reports added to their swaps. `logs` are validated, with `report_topics`.

    All logs are in chain order. A conversion has its emitter's address; the caller must verify that this is a locker.
    Parts count only from launch emitters of their launchpad; malformed parts are undecodable. Where launchpads share
    an emitter, a swap is returned once without its parts, and once per launchpad with that launchpad's parts.
    Raises MalformedResponseError.
    """
    reports = defaultdict[str, list[_Report]](list)
    manager = (chain.v4_pool_manager or "").lower()
    undecodable: list[UndecodableLog] = []
    for log in logs:
        parts = chain.swap_parts.get((log["address"].lower(), log["topics"][0]), ())
        decoded = _read_parts(log, parts) if parts else [_read_report(log, manager)]
        if isinstance(decoded, UndecodableLog):
            undecodable.append(decoded)
            continue
        for report in decoded:
            if report is not None:
                reports[log["transactionHash"]].append((int(log["logIndex"], 16), report))
    swaps, declared = list(pool_logs.swaps), list[Swap]()
    for tx_hash, positions in _swap_positions(pool_logs.swaps, reports).items():
        bare_swaps = {position: swaps[position] for position in positions}
        for position, swap in _with_reports(bare_swaps, _of_launchpad(reports[tx_hash], None)):
            swaps[position] = swap
        launchpads = {launchpad for _, report in reports[tx_hash] if (launchpad := _launchpad_of(report))}
        for launchpad in sorted(launchpads):
            launchpad_swaps = _with_reports(bare_swaps, _of_launchpad(reports[tx_hash], launchpad))
            declared += [swap._replace(launchpad=launchpad) for _, swap in launchpad_swaps]
    if declared:
        swaps = sorted([*swaps, *declared], key=position_of)
    return replace(pool_logs, swaps=swaps, undecodable=[*pool_logs.undecodable, *undecodable])


def _launchpad_of(report: Conversion | HookFee | _HookReport) -> str | None:
    return report.launchpad if isinstance(report, _HookReport) else None


def _of_launchpad(reports: Iterable[_Report], launchpad: str | None) -> list[_Report]:
    """Return the reports without a launchpad, and the reports that this launchpad declares."""
    return [(index, report) for index, report in reports if _launchpad_of(report) in (None, launchpad)]


def _swap_positions(swaps: Sequence[Swap], reports: Mapping[str, object]) -> dict[str, list[int]]:
    """Return transaction -> positions of its v4 swaps in `swaps`, for transactions with reports."""
    positions: dict[str, list[int]] = {}
    if reports:
        for position, swap in enumerate(swaps):
            if swap.tx_hash in reports and is_v4_pool(swap.pool):
                positions.setdefault(swap.tx_hash, []).append(position)
    return positions


def _with_reports(swaps: Mapping[int, Swap], reports: Sequence[_Report]) -> Iterator[tuple[int, Swap]]:
    fees = [(index, report) for index, report in reports if isinstance(report, HookFee)]
    conversions, parts = _conversions_by_swap(swaps, reports), _parts_by_swap(swaps, reports)
    indexes = [swap.log_index for swap in swaps.values()]
    before, after = [-1, *indexes], [*indexes[1:], None]
    for (position, swap), first, end in zip(swaps.items(), before, after, strict=False):
        own = swap.log_index
        swap_parts = parts.get(position, ())
        part_fees = [report.fees for report in swap_parts if report.fees]
        yield (
            position,
            swap._replace(
                amount0=swap.amount0 + sum(report.amounts[0] for report in swap_parts),
                amount1=swap.amount1 + sum(report.amounts[1] for report in swap_parts),
                reported_fees=(sum(fee for fee, _ in part_fees), sum(fee for _, fee in part_fees))
                if part_fees
                else None,
                conversions=tuple(conversions.get(position, ())),
                fees_before=tuple(fee for index, fee in fees if first < index < own),
                fees_after=tuple(fee for index, fee in fees if own < index and (end is None or index < end)),
            ),
        )


def _conversions_by_swap(swaps: Mapping[int, Swap], reports: Iterable[_Report]) -> dict[int, list[Conversion]]:
    """Return swap position -> conversions. In each pool, the last swap before a conversion gets it."""
    conversions: dict[int, list[Conversion]] = {}
    for index, report in reports:
        if isinstance(report, Conversion):
            last = {swap.pool: position for position, swap in swaps.items() if swap.log_index < index}
            for position in last.values():
                conversions.setdefault(position, []).append(report)
    return conversions


def _parts_by_swap(swaps: Mapping[int, Swap], reports: Iterable[_Report]) -> dict[int, list[_HookReport]]:
    """Return swap position -> parts. The last swap before a part in its pool gets the part.

    If a pool's first part precedes all its swaps, then the hook reports before the pool: the next swap gets each part.
    """
    by_pool = defaultdict[str, list[tuple[int, _HookReport]]](list)
    for index, report in reports:
        if isinstance(report, _HookReport):
            by_pool[report.pool].append((index, report))
    parts: dict[int, list[_HookReport]] = {}
    for pool, pool_reports in by_pool.items():
        positions = {swap.log_index: position for position, swap in swaps.items() if swap.pool == pool}
        if not positions:
            continue
        is_before = pool_reports[0][0] < min(positions)
        for index, report in pool_reports:
            before, after = [own for own in positions if own < index], [own for own in positions if own > index]
            log_index = after[0] if after and is_before else before[-1]
            parts.setdefault(positions[log_index], []).append(report)
    return parts


def _read_parts(log: Log, parts: Sequence[SwapPart]) -> list[_HookReport] | UndecodableLog:
    """Decode a part by each declaration that it matches; an undecodable log matches none."""
    reports, reasons = list[_HookReport](), list[str]()
    for declaration in parts:
        launchpad = declaration.launchpad if len(parts) > 1 else None
        try:
            reports.append(_read_part(log, declaration, launchpad=launchpad))
        except LogDecodingError as error:
            reasons.append(str(error))
    return reports or undecodable_log(log, launchpad=parts[0].launchpad, reason=reasons[0])


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
    """Decode a log; None where it reports neither a conversion nor a hook fee.

    event FeesSwapped(address indexed token, address indexed rewardToken, uint256 amountSwapped,
    address indexed swappedToken, uint256 amountOut), by a locker, and by ERC-6909
    event Transfer(address caller, address indexed sender, address indexed receiver, uint256 indexed id,
    uint256 amount), where the id is a currency's address.
    """
    topics, emitter = log["topics"], log["address"].lower()
    has_shape = len(topics) == 4 and len(log["data"]) == 2 + 2 * _WORD_DIGITS
    if topics[0] == CONVERSION_TOPIC:
        # Any contract may emit the event, with any topics and data.
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
