"""The orders of trending pools, and which list of the provider has each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tokens.market.provider_responses import CHANGE_PERIODS, Pool, number
from tokens.market.quotes import trades

DEFAULT_ORDER = "h24_price_change_percentage_desc"
_DIRECTIONS = ("desc", "asc")

# Values of the parameter `order`, which are those of the provider's `sort`.
ORDERS = (
    *(f"{period}_trending" for period in CHANGE_PERIODS),
    *(f"h24_tx_count_{direction}" for direction in _DIRECTIONS),
    *(f"h24_volume_usd_{direction}" for direction in _DIRECTIONS),
    *(f"{period}_price_change_percentage_{direction}" for period in CHANGE_PERIODS for direction in _DIRECTIONS),
    "pool_created_at_desc",
    *(f"fdv_usd_{direction}" for direction in _DIRECTIONS),
    *(f"reserve_in_usd_{direction}" for direction in _DIRECTIONS),
)

# The lists of categories know these alone: https://docs.coingecko.com/reference/pools-category
CATEGORY_ORDERS = frozenset(
    {
        "m5_trending",
        "h1_trending",
        "h6_trending",
        "h24_trending",
        "h24_tx_count_desc",
        "h24_volume_usd_desc",
        "pool_created_at_desc",
        "h24_price_change_percentage_desc",
    }
)
DEFAULT_CATEGORY_ORDER = "h24_trending"

_DURATIONS = {"m5": "5m", "h1": "1h", "h6": "6h", "h24": "24h"}


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Where the provider lists pools; `sorted` says whether in the order that was asked for."""

    path: str
    params: Mapping[str, str]
    sorted: bool


def free_listing(network: str, order: str) -> Listing:
    """The list of the free tier for an order. What that can't sort is its page of trending pools, sorted by us."""
    pools = f"/networks/{network}"
    if order in ("h24_tx_count_desc", "h24_volume_usd_desc"):
        return Listing(path=f"{pools}/pools", params={"sort": order}, sorted=True)
    if order == "pool_created_at_desc":
        return Listing(path=f"{pools}/new_pools", params={}, sorted=True)
    # Of the others' periods the day is the longest, and has the most pools.
    duration = _DURATIONS.get(order.partition("_")[0], "24h")
    trending = order.endswith("_trending")
    return Listing(path=f"{pools}/trending_pools", params={"duration": duration}, sorted=trending)


def reorder(pools: tuple[Pool, ...], *, order: str) -> tuple[Pool, ...]:
    """These pools in an order, those without the value last in both directions; a trending order is the provider's."""
    name, _, direction = order.rpartition("_")
    key = _keys().get(name)
    if key is None:
        return pools
    keyed = [(value, pool) for pool in pools if (value := key(pool)) is not None]
    known = [pool for _, pool in sorted(keyed, key=lambda pair: pair[0], reverse=direction == "desc")]
    return (*known, *(pool for pool in pools if key(pool) is None))


def _keys() -> Mapping[str, Callable[[Pool], float | str | None]]:
    def change(period: str) -> Callable[[Pool], float | None]:
        return lambda pool: number(pool.price_change_percentage[period])

    return {
        "h24_tx_count": lambda pool: trades(pool, "h24"),
        "h24_volume_usd": lambda pool: number(pool.volume_usd["h24"]),
        "pool_created_at": lambda pool: pool.pool_created_at,
        "fdv_usd": lambda pool: number(pool.fdv_usd),
        "reserve_in_usd": lambda pool: number(pool.reserve_in_usd),
        **{f"{period}_price_change_percentage": change(period) for period in CHANGE_PERIODS},
    }
