"""Amounts that accounts bought and sold, the largest net purchases, and sales without a purchase. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tokens.integrity.first_trades import LaunchTrade

HOLDERS_SHOWN = 10


@dataclass(slots=True)
class Holding:
    """An account's trades, and the amount that stored claims paid to it, in smallest units."""

    bought: int = 0
    sold: int = 0
    received: int = 0
    trades: list[LaunchTrade] = field(default_factory=list)

    @property
    def net(self) -> int:
        """Return purchases plus claims minus sales; negative if transfers brought tokens that were sold."""
        return self.bought + self.received - self.sold


class UnboughtSales(NamedTuple):
    """The number of accounts that sold more than they bought, and how much more in sum."""

    accounts: int
    amount: int


def sum_holdings(trades: Iterable[LaunchTrade], received: Mapping[str, int] | None = None) -> dict[str, Holding]:
    """Return account -> holding after these trades, with amounts that claims paid; unknown accounts are left out.

    Accounts are sorted by their first trades.
    """
    holdings: dict[str, Holding] = {}
    for trade in trades:
        if trade.account is None:
            continue
        holding = holdings.setdefault(trade.account, Holding())
        holding.trades.append(trade)
        if trade.is_buy:
            holding.bought += trade.amount
        else:
            holding.sold += trade.amount
    for account, amount in (received or {}).items():
        holdings.setdefault(account, Holding()).received = amount
    return holdings


def largest_holders(holdings: Mapping[str, Holding]) -> list[tuple[str, Holding]]:
    """Return the HOLDERS_SHOWN accounts with the highest positive net, largest first, equal ones by address."""
    holders = [(account, holding) for account, holding in holdings.items() if holding.net > 0]
    return sorted(holders, key=lambda holder: (-holder[1].net, holder[0]))[:HOLDERS_SHOWN]


def sum_unbought_sales(holdings: Iterable[Holding]) -> UnboughtSales:
    """Return the amounts sold beyond purchases and claims: these tokens arrived by transfers, which are not stored."""
    excesses = [-holding.net for holding in holdings if holding.net < 0]
    return UnboughtSales(len(excesses), sum(excesses))
