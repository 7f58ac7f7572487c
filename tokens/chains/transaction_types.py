"""Frozen records for outgoing transactions: call, simulation, gas price, broadcast result and mined outcome."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, kw_only=True, slots=True)
class Simulation:
    """A simulated call's result: `output` is its return data as hex, `gas` the gas that it needs, without a reserve."""

    output: str
    gas: int


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountState:
    """An account at the newest block: its next nonce, and its native coin balance in wei."""

    nonce: int
    balance: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FeeQuote:
    """Gas prices in wei: the next block's maximum base fee, and a usual priority fee.

    `disputed_priority_fee`, for replacements, is the higher fee if two nodes differ and no third one decides; else 0.
    `alarm` is one line if a node suggests an unusual fee or the cap binds, and else empty.
    """

    base_fee: int
    priority_fee: int
    disputed_priority_fee: int = 0
    alarm: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class TransactionOutcome:
    """A mined transaction's receipt; `gas_price` is wei per gas, priority fee included."""

    tx_hash: str
    succeeded: bool
    block_number: int
    block_hash: str
    gas_used: int
    gas_price: int


class BroadcastStatus(Enum):
    """A node's response to a signed transaction, best first; the best response among all nodes counts."""

    # Accepted now.
    ACCEPTED = "accepted"
    # Already in the node's pool.
    ALREADY_KNOWN = "already known"
    # Another transaction with its nonce, or itself, is in a block.
    NONCE_SPENT = "nonce spent"
    # A pending transaction has the same nonce, and the fee is too low to replace it.
    UNDERPRICED = "underpriced"
    # The fee is below the base fee or the node's minimum tip.
    FEE_TOO_LOW = "fee too low"
    # The sender's balance does not cover the maximum cost. The former version reads this value in stored texts.
    INSUFFICIENT_FUNDS = "too poor"
    # The transaction breaks a fixed chain rule: no node will ever accept it.
    REJECTED = "rejected"
    # No response, or an inconclusive one: the node may have accepted the transaction.
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class BroadcastResult:
    """A broadcast's outcome over all nodes, with the message from the node that decided it."""

    status: BroadcastStatus
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ContractCall:
    """A contract call: `data` is 0x-prefixed hex, `value` wei of the native coin."""

    to: str
    data: str
    value: int
