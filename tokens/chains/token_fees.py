"""Uncollected fees of a token per recipient, and the division of fees as lockers compute it. Pure.

Fees pass two layers: those accrued in the pool, and those that the locker has harvested for a later claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# Lockers and hooks count shares in bps.
ALL_BPS = 10_000

# Swaps of a collection, for recipients of one currency only: none, simulated by a node, or of unknown outcome.
Conversion = Literal["none", "simulated", "unknown"]


@dataclass(frozen=True, kw_only=True, slots=True)
class FeeAmount:
    """Fees in one currency (the address of an ERC-20), in its smallest unit."""

    currency: str
    decimals: int
    amount: int


@dataclass(frozen=True, kw_only=True, slots=True)
class UncollectedFees:
    """Fees that a pool owes to a position, in the order of the pool's two currencies.

    `team_percent` is the whole percentage that the locker gives to the launchpad's team, rounded down in each currency;
    None where the locker does not report it.
    """

    locker: str
    amounts: tuple[FeeAmount, ...]
    team_percent: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Currency:
    """A token in which fees are paid; `symbol` is None where it reports none."""

    address: str
    symbol: str | None
    decimals: int


@dataclass(frozen=True, kw_only=True, slots=True)
class FeeShare:
    """One recipient's uncollected fees, in the smallest units of the pool's currencies and in their order.

    `harvested` has left the pool and awaits a claim. In v4 one balance holds what all tokens stored for its owner in
    that currency. `pending` is what a collection would pay now; None is unknown. `recipient` is None where no contract
    reports the recipient.
    """

    recipient: str | None
    harvested: tuple[int, ...]
    pending: tuple[int | None, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenFees:
    """A token's uncollected fees after a block: one share per recipient.

    `collectable_from` is the Unix time until which a collection pays nothing; None if it pays now.
    """

    block_number: int
    currencies: tuple[Currency, ...]
    shares: tuple[FeeShare, ...]
    conversion: Conversion
    collectable_from: int | None = None


def split_by_bps(amount: int, parts: Sequence[int]) -> list[int]:
    """Divide an amount into shares of these bps, each rounded down, followed by the remainder.

    All lockers divide this way; they differ in the recipient of the remainder. A percentage is 100 bps, and rounds the
    same.
    """
    shares = [amount * bps // ALL_BPS for bps in parts]
    return [*shares, amount - sum(shares)]


def sum_known(amounts: Sequence[int | None]) -> int | None:
    """Return the sum of the amounts, or None if one of them is unknown."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


def sum_shares(shares: Sequence[FeeShare]) -> FeeShare:
    """Add up at least one share into one without a recipient."""
    return FeeShare(
        recipient=None,
        harvested=tuple(map(sum, zip(*(share.harvested for share in shares), strict=True))),
        pending=tuple(map(sum_known, zip(*(share.pending for share in shares), strict=True))),
    )
