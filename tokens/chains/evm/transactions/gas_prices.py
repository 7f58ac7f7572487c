"""Gas prices of a chain, from all of its nodes and its recent blocks, so that no single node decides what is paid.

A base fee that is too high costs nothing, because the chain charges its own. The tip is paid as offered. So each node
has one vote, the lower of its suggestion and of what recent blocks paid by its report. The lower median counts, and is
capped. A replacement of a stuck transaction may pay the upper one: with two nodes, a lie may have been too low.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from config.http.errors import PermanentError, RetryableError
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.quantities import (
    GAS_PRICE_LIMIT,
    MalformedResponseError,
    parse_list,
    parse_object,
    parse_quantity,
)
from tokens.chains.rpc.responses import Call, CallFailure, RejectionKind, require_results
from tokens.chains.transaction_types import FeeQuote

logger = logging.getLogger(__name__)

# No chain's base fee grows by more than an eighth from one block to the next (EIP-1559).
_GROWTH = 8
# Blocks whose tips are read, and the percentile of the gas of each, sorted by tip.
_BLOCKS = 10
_PERCENTILE = 50
# The highest tip is this many times the base fee; a tenth of the cap is always allowed, as on chains without base fee.
_BASE_FEES = 10
# A suggestion is far above the others from this multiple on, and from this part of the cap on.
_FAR_ABOVE = 10
_NOTEWORTHY = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class _NodePrices:
    """The gas prices that one node reports, in wei; `paid_tip` is the tip of recent blocks, None where unknown."""

    number: int
    base_fee: int
    suggested_tip: int
    paid_tip: int | None

    @property
    def tip(self) -> int:
        """The node's vote."""
        return self.suggested_tip if self.paid_tip is None else min(self.suggested_tip, self.paid_tip)


def read_fees(rpc: RpcClient, *, tip_cap: int) -> FeeQuote:
    """Implement `Chain.read_fees`; `tip_cap` is in wei."""
    calls: list[Call] = [
        ("eth_getBlockByNumber", ("latest", False)),
        ("eth_gasPrice", ()),
        ("eth_maxPriorityFeePerGas", ()),
        ("eth_feeHistory", (hex(_BLOCKS), "latest", [_PERCENTILE])),
    ]
    found = []
    numbers = rpc.places or range(1, len(rpc.urls) + 1)
    # Like a broadcast: with a short timeout for each node, and to slow nodes if no other one responds.
    for number, results in zip(numbers, rpc.call_all(calls, broadcast=True), strict=True):
        if results is None:
            continue
        try:
            found.append(_read_prices(number, results))
        except (RetryableError, PermanentError) as error:
            logger.warning("chain %s, node %s: no gas prices: %s", rpc.chain_id, number, error)
    if not found:
        found = [rpc.query(calls, parse=lambda results: _read_prices(1, results))]
    return _quote(found, tip_cap=tip_cap)


def _quote(found: Sequence[_NodePrices], *, tip_cap: int) -> FeeQuote:
    # The higher one of two: too low a base fee would leave transactions stuck.
    base_fee = sorted(prices.base_fee for prices in found)[len(found) // 2]
    votes = sorted(prices.tip for prices in found)
    tip, disputed = _lower_median(votes), votes[len(votes) // 2]
    limit = min(tip_cap, max(tip_cap // 10, _BASE_FEES * base_fee))
    least = max(_FAR_ABOVE * tip, tip_cap // _NOTEWORTHY)
    # A single node is compared with its own report of recent blocks only.
    alarms = [
        f"node {prices.number} suggests far more than the other nodes or recent blocks"
        for prices in found
        if prices.suggested_tip > least
    ]
    if tip > limit:
        alarms.append("the suggested priority fee is above its cap, and is not paid in full")
    return FeeQuote(
        base_fee=base_fee + -(-base_fee // _GROWTH),
        priority_fee=min(tip, limit),
        disputed_priority_fee=min(disputed, limit) if disputed > tip else 0,
        alarm="; ".join(alarms),
    )


def _lower_median(values: Sequence[int]) -> int:
    """Return the middle value, of an even number the lower one: one of two nodes can't raise it."""
    return sorted(values)[(len(values) - 1) // 2]


def _read_prices(number: int, results: list[Any]) -> _NodePrices:
    """Parse a node's results. Raises RetryableError."""
    block, price, tip, history = results
    require_results([block, price])
    header = parse_object(block, of="a block")
    base_fee = parse_quantity(header.get("baseFeePerGas"), below=GAS_PRICE_LIMIT)
    if isinstance(tip, CallFailure) and tip.kind is RejectionKind.METHOD:
        # The usual price of legacy transactions includes the tip.
        suggested_tip = max(0, parse_quantity(price, below=GAS_PRICE_LIMIT) - base_fee)
    else:
        require_results([tip])
        suggested_tip = parse_quantity(tip, below=GAS_PRICE_LIMIT)
    return _NodePrices(
        number=number, base_fee=base_fee, suggested_tip=suggested_tip, paid_tip=_read_paid_tip(history, base_fee)
    )


def _read_paid_tip(history: object, base_fee: int) -> int | None:
    """Return the lower median of the tips paid in recent blocks; None where the node reports none, or nonsense.

    Blocks without a paid tip are left out: they are empty, or hold only transactions of the chain itself.
    """
    try:
        told = parse_object(history, of="a fee history")
        rewards = [parse_list(entry, of="a block") for entry in parse_list(told.get("reward"), of="rewards")]
        base_fees = [parse_quantity(entry) for entry in parse_list(told.get("baseFeePerGas"), of="base fees")]
        tips = [parse_quantity(*entry) for entry in rewards if len(entry) == 1]
    except MalformedResponseError:
        return None
    # One value of each block, and one base fee more than blocks: that of the next one.
    whole = 0 < len(tips) == len(rewards) <= _BLOCKS and len(base_fees) == len(rewards) + 1
    steps = zip(base_fees, base_fees[1:], strict=False)
    if not whole or any(after > before + max(1, -(-before // _GROWTH)) for before, after in steps):
        return None
    # The history may be a block older or newer than the block that was read.
    if not any(_is_near(base_fee, known) for known in base_fees[-3:]):
        return None
    paid = [tip for tip in tips if tip]
    return _lower_median(paid) if paid else None


def _is_near(base_fee: int, known: int) -> bool:
    return abs(base_fee - known) <= max(1, max(base_fee, known) // _GROWTH + 1)
