"""Pool statistics in trending lists, from either source."""

from collections.abc import Mapping
from dataclasses import dataclass

# Period -> seconds. PERIODS are for volumes and trades, CHANGE_PERIODS for price changes.
PERIOD_SECONDS = {"m5": 300, "m15": 900, "m30": 1800, "h1": 3600, "h6": 21_600, "h24": 86_400}
PERIODS = tuple(PERIOD_SECONDS)
CHANGE_PERIODS = ("m5", "h1", "h6", "h24")
TRADE_COUNTS = ("buys", "sells", "buyers", "sellers")


@dataclass(frozen=True, kw_only=True)
class PoolStatistics:
    """A pool with its prices and trades. Addresses are `address_key`s, numbers are decimal digits; None is unknown."""

    address: str
    name: str
    # Empty if the source has none.
    base_token: str
    quote_token: str
    base_token_price_usd: str | None
    quote_token_price_usd: str | None
    # ISO 8601 in UTC, with milliseconds and Z.
    pool_created_at: str | None
    fdv_usd: str | None
    market_cap_usd: str | None
    reserve_in_usd: str | None
    # Percentage points by CHANGE_PERIODS, USD by PERIODS, TRADE_COUNTS by PERIODS.
    price_change_percentage: Mapping[str, str | None]
    volume_usd: Mapping[str, str | None]
    transactions: Mapping[str, Mapping[str, int | None]]
