"""Bundles: purchases of one transaction, or of transactions that are next to one another in a block. Pure.

docs/integrity.md has the definition, which another implementation must be able to follow without this code.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tokens.chains.pool_types import split_position
from tokens.chains.solana.slot_places import transaction_place
from tokens.integrity.first_trades import LaunchTrade

# EVM: two transactions of a block are next to one another if the numbers of their nearest logs differ by at most this.
# A stored trade has the number of its log, and not that of its transaction.
NEAR_LOGS = 16

SAME_TRANSACTION, CONSECUTIVE, WITH_LAUNCH = BUNDLE_KINDS = ("sameTransaction", "consecutive", "withLaunch")


class LaunchLog(NamedTuple):
    """The transaction of a launch, and the position of the launch's log in the chain; None where that is unknown."""

    tx_hash: str
    position: int | None


@dataclass(frozen=True, slots=True)
class Bundle:
    """Purchases of neighbouring transactions, in the sequence of the chain, and the kinds that apply to them."""

    kinds: tuple[str, ...]
    purchases: Sequence[LaunchTrade]


@dataclass(slots=True)
class _Transaction:
    """What is known of a transaction: its purchases, and the lowest and highest position of its logs."""

    first: int
    last: int
    is_launch: bool
    purchases: list[LaunchTrade] = field(default_factory=list)


def find_bundles(trades: Iterable[LaunchTrade], *, launch: LaunchLog, is_solana: bool) -> list[Bundle]:
    """Return the bundles among trades that are in the sequence of the chain. No purchase is in two of them."""
    is_next = _is_next_in_slot if is_solana else _is_near
    bundles = (_bundle(run) for run in _runs(_transactions(trades, launch), is_next))
    return [bundle for bundle in bundles if bundle]


def _transactions(trades: Iterable[LaunchTrade], launch: LaunchLog) -> list[_Transaction]:
    """Return the transactions by their first logs: of the trades, and the launch's if its place is known."""
    found: dict[str, _Transaction] = {}
    if launch.position is not None:
        found[launch.tx_hash] = _Transaction(launch.position, launch.position, is_launch=True)
    for trade in trades:
        transaction = found.setdefault(
            trade.tx_hash, _Transaction(trade.position, trade.position, is_launch=trade.tx_hash == launch.tx_hash)
        )
        transaction.first = min(transaction.first, trade.position)
        transaction.last = max(transaction.last, trade.position)
        if trade.is_buy:
            transaction.purchases.append(trade)
    return sorted(found.values(), key=lambda transaction: transaction.first)


def _runs(
    transactions: Iterable[_Transaction], is_next: Callable[[_Transaction, _Transaction], bool]
) -> list[list[_Transaction]]:
    """Return the longest runs of neighbours; a transaction that only sells is in no run and ends the one before."""
    runs: list[list[_Transaction]] = [[]]
    for transaction in transactions:
        if not (transaction.purchases or transaction.is_launch):
            runs.append([])
        elif runs[-1] and is_next(runs[-1][-1], transaction):
            runs[-1].append(transaction)
        else:
            runs.append([transaction])
    return runs


def _bundle(run: Sequence[_Transaction]) -> Bundle | None:
    purchases = [purchase for transaction in run for purchase in transaction.purchases]
    conditions = (
        any(len(transaction.purchases) > 1 for transaction in run),
        len(run) > 1,
        any(transaction.is_launch for transaction in run),
    )
    kinds = tuple(kind for kind, applies in zip(BUNDLE_KINDS, conditions, strict=True) if applies)
    # The launch's transaction by itself is no bundle, also with one purchase.
    return Bundle(kinds, purchases) if {SAME_TRANSACTION, CONSECUTIVE} & set(kinds) else None


def _is_near(one: _Transaction, following: _Transaction) -> bool:
    (block, log_index), (next_block, next_log_index) = split_position(one.last), split_position(following.first)
    return block == next_block and next_log_index - log_index <= NEAR_LOGS


def _is_next_in_slot(one: _Transaction, following: _Transaction) -> bool:
    (slot, place), (next_slot, next_place) = split_position(one.last), split_position(following.first)
    return slot == next_slot and transaction_place(next_place) - transaction_place(place) == 1
