"""Client for the market-data provider: CoinGecko's on-chain API, or GeckoTerminal as its free tier.

Every call raises RetryableError (also RateLimitedError and UnexpectedShapeError) or PermanentError (HTTPStatusError),
and never blocks longer than its timeouts. Callers comply with the rate limit: see `provider_rate_limit`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from config.http.errors import HTTPStatusError
from config.http.json_client import get_json
from tokens.chains.addresses import address_key
from tokens.market.pool_statistics import PoolStatistics
from tokens.market.provider_responses import parse_pools
from tokens.market.trending_sorts import CATEGORY_SORTS, DEFAULT_CATEGORY_SORT, PoolList, free_tier_list, sort_pools

# A hundred pools have 300 kB.
MAX_RESPONSE_BYTES = 8 * 1024 * 1024
_WITH_TOKENS = "base_token,quote_token"


def fetch_pools(network: str, addresses: Sequence[str]) -> tuple[PoolStatistics, ...]:
    """Fetch pools, at most MARKET_ADDRESSES_PER_CALL; unknown ones are absent.

    https://docs.coingecko.com/reference/pools-addresses
    """
    listed = ",".join(map(address_key, addresses))
    response = _get(f"/networks/{network}/pools/multi/{listed}", {"include": _WITH_TOKENS})
    return () if response is None else parse_pools(response)


def fetch_trending(network: str, *, sort: str, page: int) -> tuple[PoolStatistics, ...]:
    """Fetch page 1 to 10 of a network's pools, sorted by one of TRENDING_SORTS; empty beyond the last page.

    https://docs.coingecko.com/reference/pools-megafilter
    https://docs.coingecko.com/reference/pools-category
    https://docs.coingecko.com/reference/trending-pools-network
    https://docs.coingecko.com/reference/top-pools-network
    https://docs.coingecko.com/reference/latest-pools-network
    """
    listed = _pool_list(network, sort)
    response = _get(listed.path, {**listed.params, "page": str(page), "include": _WITH_TOKENS})
    pools = () if response is None else parse_pools(response, network=network)
    return pools if listed.is_sorted else sort_pools(pools, sort=sort)


def _pool_list(network: str, sort: str) -> PoolList:
    """Return the provider's list for a sort, by this installation's access to the provider."""
    if settings.MARKET_CATEGORY:
        supported = sort in CATEGORY_SORTS
        params = {"sort": sort if supported else DEFAULT_CATEGORY_SORT}
        return PoolList(path=f"/categories/{settings.MARKET_CATEGORY}/pools", params=params, is_sorted=supported)
    if settings.MARKET_API_KEY:
        return PoolList(path="/pools/megafilter", params={"networks": network, "sort": sort}, is_sorted=True)
    return free_tier_list(network, sort)


def _get(path: str, params: Mapping[str, str]) -> Any:
    """Return the response's JSON; None if the provider has nothing under this path."""
    headers = {"accept": "application/json"}
    if settings.MARKET_API_KEY:
        headers["x-cg-pro-api-key"] = settings.MARKET_API_KEY
    try:
        return get_json(
            settings.MARKET_BASE_URL + path,
            params=params,
            headers=headers,
            timeout=settings.MARKET_TIMEOUT_SECONDS,
            max_bytes=MAX_RESPONSE_BYTES,
        )
    except HTTPStatusError as error:
        # Also the response to a list of unknown addresses.
        if error.status == 404:
            return None
        raise
