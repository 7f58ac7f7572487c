"""Token list sorts. Each has an index for both directions; unknown values come last in both."""

import math
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Lookup, Value
from django.db.models.functions import Coalesce
from django.db.models.lookups import GreaterThanOrEqual


@dataclass(frozen=True)
class Sort:
    """A value for `sortBy`, and its column."""

    name: str
    # A Token column, or a Market column if `by_market`.
    column: str
    by_market: bool = True
    # Substitutes for an unknown value: below and above every known one.
    lowest: float | int = -math.inf
    highest: float | int = math.inf

    def key(self, *, descending: bool, prefix: str = "") -> Coalesce | F:
        """Return the sort expression; `prefix` is the lookup path from the queryset's model to the column."""
        if not self.by_market:
            return F(prefix + self.column)
        return Coalesce(F(prefix + self.column), Value(self.unknown_key(descending=descending)))

    @property
    def is_integer(self) -> bool:
        """Return whether the values are integers."""
        return isinstance(self.lowest, int)

    def unknown_key(self, *, descending: bool) -> float | int:
        """Return the substitute for an unknown value, which sorts it last in this direction."""
        return self.lowest if descending else self.highest


DEPLOYED_AT = Sort("deployed-at", "deployed_at", by_market=False)
MARKET_SORTS = (
    Sort("market-cap", "market_cap"),
    # A count is an integer, which has no infinity.
    Sort("tx-h24", "tx_count_24h", lowest=-1, highest=2**63 - 1),
    Sort("volume-h24", "volume_24h"),
    Sort("price-percent-h24", "price_change_24h"),
    Sort("price-percent-h1", "price_change_1h"),
)
_MARKET_COLUMNS = {sort.column: sort for sort in MARKET_SORTS}


def at_least(column: str, least: float, *, prefix: str) -> "Lookup[Any]":
    """Return the condition that a market sort's column is known and at least this number.

    It is for the descending sort's index only: a second one, for the ascending index, would be the same to
    PostgreSQL as a further filter, so that it would expect far fewer rows than there are.
    """
    return GreaterThanOrEqual(_MARKET_COLUMNS[column].key(descending=True, prefix=prefix), Value(least))


SORTS = {sort.name: sort for sort in (DEPLOYED_AT, *MARKET_SORTS)}
