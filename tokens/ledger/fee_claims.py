"""Claims of recipients by day, from the sums that are stored with their blocks."""

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
    """A recipient of fees in one currency of a chain; addresses are in stored form."""

    chain_id: int
    recipient: str
    currency: str


@dataclass(slots=True)
class DailyAmounts:
    """An amount, and its parts by day in UTC since a first day, in the smallest unit of a currency."""

    total: int = 0
    # Without days that have none.
    days: dict[date, int] = field(default_factory=dict)

    def add(self, day: date | None, amount: int) -> None:
        """Add an amount to the total and to its day; None is before the first one."""
        self.total += amount
        if day is not None:
            self.days[day] = self.days.get(day, 0) + amount


def read_account_claims(accounts: Collection[FeeAccount], first_day: date) -> dict[FeeAccount, DailyAmounts]:
    """Return the claims of each account, by day since the first one; in one query, none without an account."""
    found = {account: DailyAmounts() for account in accounts}
    if not found:
        return found
    parameters = {
        "chains": array_literal(account.chain_id for account in found),
        "recipients": [account.recipient for account in found],
        "currencies": [account.currency for account in found],
        "first_day": first_day,
    }
    with read_connection().cursor() as cursor:
        cursor.execute(_SUMS, parameters)
        for chain_id, recipient, currency, day, amount in cursor.fetchall():
            found[FeeAccount(chain_id, recipient, currency)].add(day, int(amount))
    return found
