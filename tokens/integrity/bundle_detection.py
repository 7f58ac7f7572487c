"""Bundles: purchases of one transaction, or of transactions that are next to one another in a block. Pure.

docs/integrity.md has the definition, which another implementation must be able to follow without this code.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tokens.integrity.first_trades import LaunchPlace, LaunchTrade

SAME_TRANSACTION, CONSECUTIVE, WITH_LAUNCH = BUNDLE_KINDS = ("sameTransaction", "consecutive", "withLaunch")


@dataclass(frozen=True, slots=True)
class Bundle:
    """Purchases of neighbouring transactions, in the sequence of the chain, and the kinds that apply to them."""

    kinds: tuple[str, ...]
    purchases: Sequence[LaunchTrade]


@dataclass(slots=True)
class _Transaction:
    """A transaction's block, its place in it if that is known, and its purchases."""

    block: int
    place: int | None
    is_launch: bool = False
    purchases: list[LaunchTrade] = field(default_factory=list)

    def is_before(self, following: "_Transaction") -> bool:
        """Return whether the other one is the next in the block."""
        if self.place is None or following.place is None:
            return False
        return self.block == following.block and following.place - self.place == 1


def find_bundles(trades: Iterable[LaunchTrade], launch: LaunchPlace) -> list[Bundle]:
    """Return the bundles among trades that are in the sequence of the chain. No purchase is in two of them."""
    bundles = (_bundle(run) for run in _runs(_transactions(trades, launch)))
    return [bundle for bundle in bundles if bundle]


def _transactions(trades: Iterable[LaunchTrade], launch: LaunchPlace) -> Iterable[_Transaction]:
    """Return the transactions in their sequence: the launch's, before which there is no pool, and those of trades."""
    found = {launch.tx_hash: _Transaction(launch.block, launch.place, is_launch=True)}
    for trade in trades:
        transaction = found.setdefault(trade.tx_hash, _Transaction(trade.block, trade.place))
        if trade.is_buy:
            transaction.purchases.append(trade)
    return found.values()


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
    # The launch's transaction by itself is no bundle, also with one purchase.
    return Bundle(kinds, purchases) if {SAME_TRANSACTION, CONSECUTIVE} & set(kinds) else None
