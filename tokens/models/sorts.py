"""The sorts of token lists. Each has an index for either direction, with what is unknown at the end of both."""

import math
from dataclasses import dataclass

from django.db.models import F, Value
from django.db.models.functions import Coalesce


@dataclass(frozen=True)
class Sort:
    """A value of `sortBy`, and the column behind it."""

    name: str
    # Of Token, or of Market where `by_market`.
    column: str
    by_market: bool = True
    # Stand in for an unknown value: before every known one, and beyond.
    lowest: float | int = -math.inf
    highest: float | int = math.inf

    def key(self, *, descending: bool, prefix: str = "") -> Coalesce | F:
        """What is compared; `prefix` leads from the queryset's model to the column."""
        if not self.by_market:
            return F(prefix + self.column)
        return Coalesce(F(prefix + self.column), Value(self.stand_in(descending=descending)))

    @property
    def is_whole(self) -> bool:
        """Whether the values are whole numbers."""
        return isinstance(self.lowest, int)

    def stand_in(self, *, descending: bool) -> float | int:
        """The key of an unknown value, which is the last in this direction."""
        return self.lowest if descending else self.highest


DEPLOYED_AT = Sort("deployed-at", "deployed_at", by_market=False)
MARKET_SORTS = (
    Sort("market-cap", "market_cap"),
    # A count is a whole number, which has no infinity.
    Sort("tx-h24", "tx_count_24h", lowest=-1, highest=2**63 - 1),
    Sort("price-percent-h24", "price_change_24h"),
    Sort("price-percent-h1", "price_change_1h"),
)
SORTS = {sort.name: sort for sort in (DEPLOYED_AT, *MARKET_SORTS)}
