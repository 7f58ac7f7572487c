"""Stored claims of recipients by day: a walk along the claims' index for each recipient and currency, up to a limit."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from config.postgresql.bulk_load import array_literal
from config.postgresql.replica import read_connection

# The newest claims that are read of a recipient in one currency.
CLAIMS_READ = 2_000
_SUMS = """
SELECT chain_id, recipient, currency, day, sum(amount), count(*)
FROM unnest(%(chains)s::bigint[], %(recipients)s::text[], %(currencies)s::text[])
    AS wanted (chain_id, recipient, currency)
CROSS JOIN LATERAL (
    SELECT (at AT TIME ZONE 'UTC')::date AS day, amount FROM tokens_feeclaim AS claim
    WHERE claim.chain_id = wanted.chain_id AND claim.recipient = wanted.recipient AND claim.currency = wanted.currency
    ORDER BY at DESC, id DESC LIMIT %(limit)s
) AS claim
GROUP BY 1, 2, 3, 4
"""


class FeeAccount(NamedTuple):
    """A recipient of fees in one currency of a chain; addresses are in stored form."""

    chain_id: int
    recipient: str
    currency: str


@dataclass(slots=True)
class DailyAmounts:
    """Amounts by day in UTC, in the smallest unit of a currency. `is_cut`: older ones exist that were not read."""

    days: dict[date, int] = field(default_factory=dict)
    is_cut: bool = False

    @property
    def total(self) -> int | None:
        """Return the sum; None if older amounts were not read."""
        return None if self.is_cut else sum(self.days.values())

    def add(self, day: date, amount: int) -> None:
        """Add an amount to its day."""
        self.days[day] = self.days.get(day, 0) + amount

    def on(self, day: date) -> int | None:
        """Return the amount of a day; None if it is not known that the whole day was read."""
        if self.is_cut and (not self.days or day <= min(self.days)):
            return None
        return self.days.get(day, 0)

    def since(self, first: date) -> set[date]:
        """Return the days from `first` on with an amount that is read in full."""
        return {day for day in self.days if day >= first and self.on(day) is not None}


def read_account_claims(accounts: Collection[FeeAccount]) -> dict[FeeAccount, DailyAmounts]:
    """Return the claims of each account by day, in one query; none without an account."""
    if not accounts:
        return {}
    unique = sorted(set(accounts))
    parameters = {
        "chains": array_literal(account.chain_id for account in unique),
        "recipients": [account.recipient for account in unique],
        "currencies": [account.currency for account in unique],
        "limit": CLAIMS_READ + 1,
    }
    with read_connection().cursor() as cursor:
        cursor.execute(_SUMS, parameters)
        rows = cursor.fetchall()
    found = {account: DailyAmounts() for account in unique}
    counts: defaultdict[FeeAccount, int] = defaultdict(int)
    for chain_id, recipient, currency, day, amount, count in rows:
        account = FeeAccount(chain_id, recipient, currency)
        found[account].add(day, int(amount))
        counts[account] += count
    for account, count in counts.items():
        found[account].is_cut = count > CLAIMS_READ
    return found
