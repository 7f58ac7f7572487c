"""Sorts for trending pools, and the provider's lists for them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tokens.market.pool_statistics import CHANGE_PERIODS, PoolStatistics
from tokens.market.provider_responses import to_float
from tokens.market.quotes import trade_count

DEFAULT_TRENDING_SORT = "h24_price_change_percentage_desc"
_DIRECTIONS = ("desc", "asc")

# Values for the parameter `order`, equal to the provider's values for `sort`.
TRENDING_SORTS = (
    *(f"{period}_trending" for period in CHANGE_PERIODS),
    *(f"h24_tx_count_{direction}" for direction in _DIRECTIONS),
    *(f"h24_volume_usd_{direction}" for direction in _DIRECTIONS),
    *(f"{period}_price_change_percentage_{direction}" for period in CHANGE_PERIODS for direction in _DIRECTIONS),
    "pool_created_at_desc",
    *(f"fdv_usd_{direction}" for direction in _DIRECTIONS),
    *(f"reserve_in_usd_{direction}" for direction in _DIRECTIONS),
)

# Category lists support only these: https://docs.coingecko.com/reference/pools-category
CATEGORY_SORTS = frozenset(
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
DEFAULT_CATEGORY_SORT = "h24_trending"

_DURATIONS = {"m5": "5m", "h1": "1h", "h6": "6h", "h24": "24h"}


@dataclass(frozen=True, kw_only=True)
class PoolList:
    """Path and parameters for a provider's list; `is_sorted`: the list has the requested sort."""

    path: str
    params: Mapping[str, str]
    is_sorted: bool


def free_tier_list(network: str, sort: str) -> PoolList:
    """Return the free tier's list for a sort; unsupported sorts use its trending pools, which are sorted here."""
    pools = f"/networks/{network}"
    if sort in ("h24_tx_count_desc", "h24_volume_usd_desc"):
        return PoolList(path=f"{pools}/pools", params={"sort": sort}, is_sorted=True)
    if sort == "pool_created_at_desc":
        return PoolList(path=f"{pools}/new_pools", params={}, is_sorted=True)
    # Default to a day: the longest period has the most pools.
    duration = _DURATIONS.get(sort.partition("_")[0], "24h")
    trending = sort.endswith("_trending")
    return PoolList(path=f"{pools}/trending_pools", params={"duration": duration}, is_sorted=trending)


def sort_pools(pools: tuple[PoolStatistics, ...], *, sort: str) -> tuple[PoolStatistics, ...]:
    """Sort pools, those without a value last in both directions; trending sorts keep the provider's sequence."""
    name, _, direction = sort.rpartition("_")
    key = _sort_keys().get(name)
    if key is None:
        return pools
    keyed = [(value, pool) for pool in pools if (value := key(pool)) is not None]
    ordered = [pool for _, pool in sorted(keyed, key=lambda pair: pair[0], reverse=direction == "desc")]
    return (*ordered, *(pool for pool in pools if key(pool) is None))


def _sort_keys() -> Mapping[str, Callable[[PoolStatistics], float | str | None]]:
    def change(period: str) -> Callable[[PoolStatistics], float | None]:
        return lambda pool: to_float(pool.price_change_percentage[period])

    return {
        "h24_tx_count": lambda pool: trade_count(pool, "h24"),
        "h24_volume_usd": lambda pool: to_float(pool.volume_usd["h24"]),
        "pool_created_at": lambda pool: pool.pool_created_at,
        "fdv_usd": lambda pool: to_float(pool.fdv_usd),
        "reserve_in_usd": lambda pool: to_float(pool.reserve_in_usd),
        **{f"{period}_price_change_percentage": change(period) for period in CHANGE_PERIODS},
    }
