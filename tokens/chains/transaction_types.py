"""What a chain tells of transactions that we send: before, while and after nodes are handed them."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, kw_only=True, slots=True)
class Simulation:
    """What a call would do now: `output` is what it returns, as hex, `gas` what it needs, without any reserve."""

    output: str
    gas: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """An account as of the newest block: the nonce that comes next, and wei of the native coin."""

    nonce: int
    balance: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FeeQuote:
    """What gas costs, in wei: the most that the next block can ask as base fee, and a usual tip."""

    base_fee: int
    priority_fee: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of a transaction that is in a block; `gas_price` is wei for each gas, tip included."""

    tx_hash: str
    succeeded: bool
    block_number: int
    block_hash: str
    gas_used: int
    gas_price: int


class Verdict(Enum):
    """What nodes said to a signed transaction, the best first: that is the one that counts of several nodes'."""

    # One has it now.
    TAKEN = "taken"
    # One had it before.
    KNOWN = "known"
    # Another transaction with its nonce, or itself, is in a block.
    NONCE_SPENT = "nonce spent"
    # Another one with its nonce waits, and pays as much or not so much less that nodes would replace it.
    UNDERPRICED = "underpriced"
    # It pays less than the base fee, or than the least tip of the node.
    FEE_TOO_LOW = "fee too low"
    # The sender's balance is less than it may cost.
    TOO_POOR = "too poor"
    # It breaks a rule of the chain that does not change: no node will ever take it.
    REFUSED = "refused"
    # Nobody answered, or somebody with words from which nothing follows: it may have been taken all the same.
    UNANSWERED = "unanswered"


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What came of handing a signed transaction to the nodes, with the words of the one whose verdict it is."""

    verdict: Verdict
    words: str
