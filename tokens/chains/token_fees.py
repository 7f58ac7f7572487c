"""Uncollected token fees per recipient, and fee division as lockers compute it. Pure.

Fees pass two layers: they accrue in the pool, and then the locker harvests them for a later claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

# Lockers and hooks count shares in bps.
ALL_BPS = 10_000

# Swaps within a collection, for recipients that take one currency only: none, simulated by a node, or unknown.
Conversion = Literal["none", "simulated", "unknown"]


@dataclass(frozen=True, kw_only=True, slots=True)
class FeeAmount:
    """Fees in one currency (an ERC-20 address), in its smallest unit."""

    currency: str
    decimals: int
    amount: int


@dataclass(frozen=True, kw_only=True, slots=True)
class UncollectedFees:
    """Fees that a pool owes to a position, in pool currency order.

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

    `harvested` has left the pool and awaits a claim. In v4 one balance holds the fees from all tokens for its owner in
    that currency. `pending` is the payout if fees were collected now; None is unknown. `recipient` is None where no
    contract reports the recipient.
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
    """Divide an amount into shares by bps, each rounded down, followed by the remainder.

    All lockers divide this way; they differ in the remainder's recipient. One percent is 100 bps, and rounds the same.
    """
    shares = [amount * bps // ALL_BPS for bps in parts]
    return [*shares, amount - sum(shares)]


def sum_known(amounts: Sequence[int | None]) -> int | None:
    """Return the sum, or None if an amount is unknown."""
    reported = [amount for amount in amounts if amount is not None]
    return sum(reported) if len(reported) == len(amounts) else None


def sum_shares(shares: Sequence[FeeShare]) -> FeeShare:
    """Add up at least one share into one without a recipient."""
    return FeeShare(
        recipient=None,
        harvested=tuple(map(sum, zip(*(share.harvested for share in shares), strict=True))),
        pending=tuple(map(sum_known, zip(*(share.pending for share in shares), strict=True))),
    )
