"""Logs beside the swaps of v4's pools: conversions of fees that lockers report, and fees that hooks take. Pure.

A locker swaps itself, or in a collection of its own through a router. So the report identifies the swap, and no address
does. A hook mints its fee for itself inside of the PoolManager, within the swap that pays it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tokens.chains.abi import codec
from tokens.chains.abi.codec import Log
from tokens.chains.evm.logs.pool_logs import address_in, checksum_text
from tokens.chains.pool_types import Conversion, HookFee, Swap, is_v4_pool
from tokens.chains.rpc.quantities import MalformedResponseError

# Of a locker, and of the PoolManager, for ERC-6909.
CONVERSION_TOPIC = codec.load_abi("v4_fees").event("FeesSwapped").topic0
HOOK_FEE_TOPIC = codec.load_abi("uniswap_v4").event("Transfer").topic0
FEE_TOPICS = frozenset({CONVERSION_TOPIC, HOOK_FEE_TOPIC})
# The sender of what is minted.
MINTED = "0x" + "00" * 32
_WORD_DIGITS = 64
# Index of a log, and what it reports.
_Report = tuple[int, Conversion | HookFee]


def attach_fees(swaps: Sequence[Swap], logs: Iterable[Log], *, pool_manager: str | None) -> list[Swap]:
    """Return the swaps with the conversions and hook fees that validated logs with `FEE_TOPICS` report.

    All are in chain order, and `pool_manager` is in any case. A report by another contract is left to the caller: a
    conversion has the address of its emitter. Raises MalformedResponseError.
    """
    reports = defaultdict[str, list[_Report]](list)
    manager = (pool_manager or "").lower()
    for log in logs:
        report = _read_report(log, manager)
        if report is not None:
            reports[log["transactionHash"]].append((int(log["logIndex"], 16), report))
    swaps_with_fees = list(swaps)
    for tx_hash, places in _places(swaps, reports).items():
        for place, swap in _of_transaction({place: swaps[place] for place in places}, reports[tx_hash]):
            swaps_with_fees[place] = swap
    return swaps_with_fees


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
    converted = _last_swaps(swaps, reports)
    indexes = [swap.log_index for swap in swaps.values()]
    before, after = [-1, *indexes], [*indexes[1:], None]
    for (place, swap), first, end in zip(swaps.items(), before, after, strict=False):
        own = swap.log_index
        yield (
            place,
            swap._replace(
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
