"""The market-data provider: CoinGecko's on-chain API, whose free twin is GeckoTerminal. A function for each call.

Every call raises Retryable (RateLimited and UnknownShape among it) or Permanent (StatusRefused) and never blocks for
longer than its time-outs. Whoever calls holds the provider's limit: see market_pace.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from config.http.json_client import StatusRefused, get_json
from tokens.chains.addresses import address_key
from tokens.market.provider_responses import Pool, TokenAnswer, read_pools, read_tokens
from tokens.market.trending_sorts import CATEGORY_ORDERS, DEFAULT_CATEGORY_ORDER, Listing, free_listing, reorder

# Thirty tokens with three pools each are 300 kB.
MAX_ANSWER_BYTES = 8 * 1024 * 1024
_WITH_TOKENS = "base_token,quote_token"


def fetch_pools(network: str, addresses: Sequence[str]) -> tuple[Pool, ...]:
    """Those of the pools (at most MARKET_ADDRESSES_PER_CALL) that the provider knows.

    https://docs.coingecko.com/reference/pools-addresses
    """
    listed = ",".join(map(address_key, addresses))
    answer = _get(f"/networks/{network}/pools/multi/{listed}", {"include": _WITH_TOKENS})
    return () if answer is None else read_pools(answer)


def fetch_tokens(network: str, addresses: Sequence[str]) -> tuple[TokenAnswer, ...]:
    """Those of the tokens (at most MARKET_ADDRESSES_PER_CALL) that the provider knows.

    https://docs.coingecko.com/reference/tokens-data-contract-addresses
    """
    listed = ",".join(map(address_key, addresses))
    answer = _get(f"/networks/{network}/tokens/multi/{listed}", {"include": "top_pools"})
    return () if answer is None else read_tokens(answer)


def fetch_trending(network: str, *, order: str, page: int) -> tuple[Pool, ...]:
    """A page, from 1 to 10, of a network's pools in one of `market_orders.ORDERS`; beyond the last page none.

    https://docs.coingecko.com/reference/pools-megafilter
    https://docs.coingecko.com/reference/pools-category
    https://docs.coingecko.com/reference/trending-pools-network
    https://docs.coingecko.com/reference/top-pools-network
    https://docs.coingecko.com/reference/latest-pools-network
    """
    listing = _listing(network, order)
    answer = _get(listing.path, {**listing.params, "page": str(page), "include": _WITH_TOKENS})
    pools = () if answer is None else read_pools(answer, network=network)
    return pools if listing.sorted else reorder(pools, order=order)


def _listing(network: str, order: str) -> Listing:
    """Which list of the provider answers an order, by what this installation has access to."""
    if settings.MARKET_CATEGORY:
        known = order in CATEGORY_ORDERS
        sort = order if known else DEFAULT_CATEGORY_ORDER
        return Listing(path=f"/categories/{settings.MARKET_CATEGORY}/pools", params={"sort": sort}, sorted=known)
    if settings.MARKET_API_KEY:
        return Listing(path="/pools/megafilter", params={"networks": network, "sort": order}, sorted=True)
    return free_listing(network, order)


def _get(path: str, params: Mapping[str, str]) -> Any:
    """The answer's JSON; None where the provider knows nothing under this path."""
    headers = {"accept": "application/json"}
    if settings.MARKET_API_KEY:
        headers["x-cg-pro-api-key"] = settings.MARKET_API_KEY
    try:
        return get_json(
            settings.MARKET_BASE_URL + path,
            params=params,
            headers=headers,
            timeout=settings.MARKET_TIMEOUT_SECONDS,
            max_bytes=MAX_ANSWER_BYTES,
        )
    except StatusRefused as refused:
        # It is also the answer to addresses of which it knows none.
        if refused.status == 404:
            return None
        raise
