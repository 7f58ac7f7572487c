"""What waits for whom of a token's fees, in the two layers that lockers have, and how lockers divide. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# Lockers and hooks count shares in these.
ALL_BPS = 10_000

# What a collection swaps first, for recipients who want one currency alone: nothing; something, of which a node has
# simulated the outcome; or something of which nobody knows the outcome.
Conversion = Literal["none", "simulated", "unknown"]


@dataclass(frozen=True, kw_only=True, slots=True)
class FeeAmount:
    """Fees in one currency (the address of an ERC-20), in its smallest unit."""

    currency: str
    decimals: int
    amount: int


@dataclass(frozen=True, kw_only=True, slots=True)
class UncollectedFees:
    """What a pool owes to a position, in the order of the pool's two currencies.

    `team_percent` is the whole percentage of it that the locker gives to the launchpad's team, rounded down in each
    currency; None where the locker does not tell.
    """

    locker: str
    amounts: tuple[FeeAmount, ...]
    team_percent: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Currency:
    """A token in which fees are paid; `symbol` is None where it tells none."""

    address: str
    symbol: str | None
    decimals: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FeeShare:
    """What one recipient has waiting, in the smallest units of the pool's currencies and in their order.

    `harvested` has left the pool and waits for a claim. In v4 one balance holds what all tokens stored for its owner in
    that currency. `pending` is what a collection would pay now; None is unknown. `recipient` is None where nobody tells
    to whom a collection would pay.
    """

    recipient: str | None
    harvested: tuple[int, ...]
    pending: tuple[int | None, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenFees:
    """A token's uncollected fees after a block: a share for each recipient, everybody once."""

    block_number: int
    currencies: tuple[Currency, ...]
    shares: tuple[FeeShare, ...]
    conversion: Conversion


def divide(amount: int, parts: Sequence[int]) -> list[int]:
    """An amount in parts of so many bps, each rounded down, and at the end what these leave.

    All lockers divide so; they differ in who gets the rest. A percentage is 100 bps, and rounds the same.
    """
    shares = [amount * bps // ALL_BPS for bps in parts]
    return [*shares, amount - sum(shares)]


def add(amounts: Sequence[int | None]) -> int | None:
    """Their sum, unknown where one of them is."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


def total(shares: Sequence[FeeShare]) -> FeeShare:
    """What these have together, under nobody's name; there is one at least."""
    return FeeShare(
        recipient=None,
        harvested=tuple(map(sum, zip(*(share.harvested for share in shares), strict=True))),
        pending=tuple(map(add, zip(*(share.pending for share in shares), strict=True))),
    )
