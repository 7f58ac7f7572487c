"""The token list in plain Python, which tests compare the database's results with."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

SORT_FIELDS = {
    "deployed-at": "deployed_at",
    "market-cap": "market_cap",
    "tx-h24": "tx_count_24h",
    "volume-h24": "volume_24h",
    "price-percent-h24": "price_change_24h",
    "price-percent-h1": "price_change_1h",
}


@dataclass
class Row:
    """A listed token's fields that lists read."""

    id: int
    name: str
    symbol: str
    deployed_at: datetime
    chain_id: int
    market: dict[str, Any] = field(default_factory=dict)

    def key(self, sort_by: str) -> Any:
        """Return its sort key, None where that is unknown."""
        return self.deployed_at if sort_by == "deployed-at" else self.market.get(SORT_FIELDS[sort_by])


def select(rows: list[Row], *, q: str = "", chain_id: int | None = None) -> list[Row]:
    """Return the rows that match."""
    sought = q.strip().casefold()
    return [
        row
        for row in rows
        if (sought in row.name.casefold() or sought in row.symbol.casefold()) and chain_id in (None, row.chain_id)
    ]


def in_order(rows: list[Row], *, sort_by: str = "deployed-at", descending: bool = True) -> list[int]:
    """Return their ids in the list's order: unknown values last in both directions, ties by id."""
    known = sorted(
        (row for row in rows if row.key(sort_by) is not None),
        key=lambda row: (row.key(sort_by), row.id),
        reverse=descending,
    )
    unknown = sorted((row for row in rows if row.key(sort_by) is None), key=lambda row: row.id, reverse=descending)
    return [row.id for row in known + unknown]
