"""Recipients' claims by day, from sums that are stored with their blocks."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from config.postgresql.bulk_load import array_literal
from config.postgresql.replica import read_connection

_SUMS = """
SELECT chain_id, recipient, currency, CASE WHEN day >= %(first_day)s THEN day END, sum(amount)
FROM unnest(%(chains)s::bigint[], %(recipients)s::text[], %(currencies)s::text[])
    AS wanted (chain_id, recipient, currency)
JOIN tokens_accountclaimsum USING (chain_id, recipient, currency)
GROUP BY 1, 2, 3, 4 HAVING sum(amount) <> 0
"""


class FeeAccount(NamedTuple):
    """A fee recipient on one chain in one currency; addresses are in stored form."""

    chain_id: int
    recipient: str
    currency: str


@dataclass(slots=True)
class DailyAmounts:
    """A total and its daily amounts in UTC since a first day, in the currency's smallest unit."""

    total: int = 0
    # Days without an amount are absent.
    days: dict[date, int] = field(default_factory=dict)

    def add(self, day: date | None, amount: int) -> None:
        """Add an amount to the total and to its day; None is a day before the first one."""
        self.total += amount
        if day is not None:
            self.days[day] = self.days.get(day, 0) + amount


def read_account_claims(accounts: Collection[FeeAccount], first_day: date) -> dict[FeeAccount, DailyAmounts]:
    """Return each account's claims, by day since `first_day`; one query, none without accounts."""
    amounts_by_account = {account: DailyAmounts() for account in accounts}
    if not amounts_by_account:
        return amounts_by_account
    parameters = {
        "chains": array_literal(account.chain_id for account in amounts_by_account),
        "recipients": [account.recipient for account in amounts_by_account],
        "currencies": [account.currency for account in amounts_by_account],
        "first_day": first_day,
    }
    with read_connection().cursor() as cursor:
        cursor.execute(_SUMS, parameters)
        for chain_id, recipient, currency, day, amount in cursor.fetchall():
            amounts_by_account[FeeAccount(chain_id, recipient, currency)].add(day, int(amount))
    return amounts_by_account
