"""Frozen records of outgoing transactions: call, simulation, gas price, broadcast result and mined outcome."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, kw_only=True, slots=True)
class Simulation:
    """The result of a simulated call: `output` is its return data as hex, `gas` its need without a reserve."""

    output: str
    gas: int


@dataclass(frozen=True, kw_only=True, slots=True)
class AccountState:
    """An account as of the newest block: the next nonce, and the balance in wei of the native coin."""

    nonce: int
    balance: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FeeQuote:
    """Gas prices in wei: the maximum base fee of the next block, and a usual priority fee.

    `disputed_priority_fee` is the higher one where two nodes differ and no third one decides, for replacements; else 0.
    `alarm` is one line if a node suggests an unusual fee or the cap binds, and else empty.
    """

    base_fee: int
    priority_fee: int
    disputed_priority_fee: int = 0
    alarm: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class TransactionOutcome:
    """The receipt of a mined transaction; `gas_price` is wei per gas, priority fee included."""

    tx_hash: str
    succeeded: bool
    block_number: int
    block_hash: str
    gas_used: int
    gas_price: int


class BroadcastStatus(Enum):
    """A node's response to a signed transaction, best first; of several nodes the best one counts."""

    # Accepted now.
    ACCEPTED = "taken"
    # In the node's pool before.
    ALREADY_KNOWN = "known"
    # Another transaction with its nonce, or itself, is in a block.
    NONCE_SPENT = "nonce spent"
    # A pending transaction has the same nonce, and the fee is too low to replace it.
    UNDERPRICED = "underpriced"
    # The fee is below the base fee or the node's minimum tip.
    FEE_TOO_LOW = "fee too low"
    # The sender's balance does not cover its maximum cost.
    INSUFFICIENT_FUNDS = "too poor"
    # It breaks a fixed rule of the chain: no node will ever accept it.
    REJECTED = "refused"
    # No response, or one from which nothing follows: it may have been accepted.
    UNKNOWN = "unanswered"


@dataclass(frozen=True, kw_only=True, slots=True)
class BroadcastResult:
    """The outcome of a broadcast over all nodes, with the message of the node that decided it."""

    status: BroadcastStatus
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ContractCall:
    """A call to a contract: `data` is 0x-prefixed hex, `value` wei of the native coin."""

    to: str
    data: str
    value: int
