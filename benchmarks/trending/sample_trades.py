"""Invented tokens' trades around a ranking's time, and what they cost their author."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

HOUR = 3600.0
# Stored trades begin so many hours before the ranking. Later ones are the future that a ranking can't read.
BEGINNING_HOURS = -36.0
END_HOURS = 6.0
# A trade's share that its pool keeps, and gas in USD for a transaction (docs/market.md: $0.06 for three).
FEE = 0.01
GAS_USD = 0.02


@dataclass(frozen=True, slots=True)
class SampleTrade:
    """A purchase or sale, as the chain has it, with the person behind it."""

    # Hours relative to the ranking: negative before it.
    at: float
    usd: float
    is_buy: bool
    # The visible sender; None where the index has none.
    trader: str | None
    # The honest person who trades; None for bots and manipulators.
    person: str | None = None
    is_conversion: bool = False

    @property
    def signed_usd(self) -> float:
        """Return USD, negative for a sale."""
        return self.usd if self.is_buy else -self.usd


@dataclass(frozen=True)
class Costs:
    """A manipulation's money up to the ranking, in USD."""

    # What pools kept.
    fees: float
    gas: float
    # Net purchases at the ranking.
    held: float
    # Largest net purchases at any time.
    at_risk: float


@dataclass
class SampleToken:
    """An invented token: its kind, its trades by time, and the author's transactions beside them."""

    key: str
    kind: str
    is_honest: bool
    # Budget in multiples of the kind's nominal one; 1 for honest tokens.
    scale: float = 1.0
    trades: list[SampleTrade] = field(default_factory=list)
    # Transactions that fund wallets or move tokens between them.
    transfers: int = 0

    @property
    def past(self) -> list[SampleTrade]:
        """Return the trades that are stored at the ranking."""
        return [trade for trade in self.trades if trade.at <= 0]

    def costs(self) -> Costs:
        """Return what the author paid. A conversion costs its value, which had to be paid as fees before."""
        fees = balance = peak = 0.0
        for trade in self.past:
            if trade.is_conversion:
                fees += trade.usd
                continue
            fees += FEE * trade.usd
            balance += trade.signed_usd
            peak = max(peak, balance)
        return Costs(fees, GAS_USD * (len(self.past) + self.transfers), max(0.0, balance), peak)


def within_the_window(trades: Iterable[SampleTrade]) -> list[SampleTrade]:
    """Return trades from 36 hours before the ranking to 6 hours after it, by time."""
    return sorted((trade for trade in trades if BEGINNING_HOURS <= trade.at <= END_HOURS), key=lambda trade: trade.at)


def log_uniform(rng: Random, low: float, high: float) -> float:
    """Return a number between these, with each doubling equally likely."""
    return float(low * (high / low) ** rng.random())
