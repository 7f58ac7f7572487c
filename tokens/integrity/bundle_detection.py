"""Bundles: purchases in one transaction, or in transactions that are neighbours in a block. Pure.

docs/integrity.md has the definition. Another implementation must be able to follow it without this code.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tokens.integrity.first_trades import LaunchPlace, LaunchTrade

SAME_TRANSACTION, CONSECUTIVE, WITH_LAUNCH = BUNDLE_KINDS = ("sameTransaction", "consecutive", "withLaunch")


@dataclass(frozen=True, slots=True)
class Bundle:
    """Purchases in neighbouring transactions, in chain sequence, and the bundle kinds that apply."""

    kinds: tuple[str, ...]
    purchases: Sequence[LaunchTrade]


@dataclass(slots=True)
class _Transaction:
    """A transaction's block, its index in the block if known, and its purchases."""

    block: int
    tx_index: int | None
    is_launch: bool = False
    purchases: list[LaunchTrade] = field(default_factory=list)

    def is_before(self, following: "_Transaction") -> bool:
        """Return whether `following` is the next transaction in the block."""
        if self.tx_index is None or following.tx_index is None:
            return False
        return self.block == following.block and following.tx_index - self.tx_index == 1


def find_bundles(trades: Iterable[LaunchTrade], launch: LaunchPlace) -> list[Bundle]:
    """Return the bundles among trades, which are in chain sequence. No purchase is in two bundles."""
    bundles = (_bundle(run) for run in _runs(_transactions(trades, launch)))
    return [bundle for bundle in bundles if bundle]


def _transactions(trades: Iterable[LaunchTrade], launch: LaunchPlace) -> Iterable[_Transaction]:
    """Return the transactions in sequence: the launch first, since no pool exists before it, then the trades'."""
    by_hash = {launch.tx_hash: _Transaction(launch.block, launch.tx_index, is_launch=True)}
    for trade in trades:
        transaction = by_hash.setdefault(trade.tx_hash, _Transaction(trade.block, trade.tx_index))
        if trade.is_buy:
            transaction.purchases.append(trade)
    return by_hash.values()


def _runs(transactions: Iterable[_Transaction]) -> list[list[_Transaction]]:
    """Return the longest runs of neighbours; a transaction that only sells is in no run and ends the one before."""
    runs: list[list[_Transaction]] = [[]]
    for transaction in transactions:
        if not (transaction.purchases or transaction.is_launch):
            runs.append([])
        elif runs[-1] and runs[-1][-1].is_before(transaction):
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
    # The launch transaction by itself is no bundle, even with one purchase.
    return Bundle(kinds, purchases) if {SAME_TRANSACTION, CONSECUTIVE} & set(kinds) else None
