"""Gas prices from all nodes and recent blocks of a chain, so that no single node decides the price that is paid.

Too high a base fee costs nothing, because the chain charges its own. The tip is paid as offered. So each node has one
vote: its suggestion, or the tip that it reports for recent blocks if this is lower. The lower median counts, and is
capped. A replacement for a stuck transaction may pay the upper median: with two nodes, a lie may have been too low.
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
# Number of blocks whose tips are read, and the percentile of each block's gas, sorted by tip.
_BLOCKS = 10
_PERCENTILE = 50
# The highest tip is this many times the base fee. A tenth of the cap is always allowed, for chains without base fee.
_BASE_FEES = 10
# A suggestion is far above the others if it exceeds both _FAR_ABOVE times the tip and the cap divided by _NOTEWORTHY.
_FAR_ABOVE = 10
_NOTEWORTHY = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class _NodePrices:
    """Gas prices that one node reports, in wei; `paid_tip` is the tip in recent blocks, None where unknown."""

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
    node_prices = []
    numbers = rpc.places or range(1, len(rpc.urls) + 1)
    # Like a broadcast: with a short timeout for each node, and to slow nodes if no other one responds.
    for number, results in zip(numbers, rpc.call_all(calls, broadcast=True), strict=True):
        if results is None:
            continue
        try:
            node_prices.append(_read_prices(number, results))
        except (RetryableError, PermanentError) as error:
            logger.warning("chain %s, node %s: no gas prices: %s", rpc.chain_id, number, error)
    if not node_prices:
        node_prices = [rpc.query(calls, parse=lambda results: _read_prices(1, results))]
    return _quote(node_prices, tip_cap=tip_cap)


def _quote(node_prices: Sequence[_NodePrices], *, tip_cap: int) -> FeeQuote:
    # The upper median: too low a base fee would leave transactions stuck.
    base_fee = sorted(prices.base_fee for prices in node_prices)[len(node_prices) // 2]
    votes = sorted(prices.tip for prices in node_prices)
    tip, disputed = _lower_median(votes), votes[len(votes) // 2]
    limit = min(tip_cap, max(tip_cap // 10, _BASE_FEES * base_fee))
    least = max(_FAR_ABOVE * tip, tip_cap // _NOTEWORTHY)
    # A single node's suggestion is only compared with the recent blocks that it reports.
    alarms = [
        f"node {prices.number} suggests far more than the other nodes or recent blocks"
        for prices in node_prices
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
    """Return the middle value, or the lower of two middle values: with two nodes, one can't raise it."""
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
    """Return the lower median tip in recent blocks; None where the node reports none, or nonsense.

    Blocks without a paid tip are left out: they are empty, or have only the chain's own transactions.
    """
    try:
        fields = parse_object(history, of="a fee history")
        rewards = [parse_list(entry, of="a block") for entry in parse_list(fields.get("reward"), of="rewards")]
        base_fees = [parse_quantity(entry) for entry in parse_list(fields.get("baseFeePerGas"), of="base fees")]
        tips = [parse_quantity(*entry) for entry in rewards if len(entry) == 1]
    except MalformedResponseError:
        return None
    # One tip per block, and one more base fee than blocks: the next block's base fee.
    whole = 0 < len(tips) == len(rewards) <= _BLOCKS and len(base_fees) == len(rewards) + 1
    steps = zip(base_fees, base_fees[1:], strict=False)
    if not whole or any(after > before + max(1, -(-before // _GROWTH)) for before, after in steps):
        return None
    # The history may be a block older or newer than the block that was read.
    if not any(_is_near(base_fee, reported) for reported in base_fees[-3:]):
        return None
    paid = [tip for tip in tips if tip]
    return _lower_median(paid) if paid else None


def _is_near(base_fee: int, reported: int) -> bool:
    return abs(base_fee - reported) <= max(1, max(base_fee, reported) // _GROWTH + 1)
