"""A chain's trending pools, by its own trades or as listed by the provider, with indexed tokens' records."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.db.models import Q
from redis.exceptions import RedisError

from config.redis.rate_limits import CountersUnavailableError, hit
from config.redis.single_flight import CacheTimes, fetch_shared
from tokens.catalogue.records import read_records
from tokens.catalogue.responses import TokenRecord
from tokens.chains.addresses import address_key, parse_address, parse_pool_address
from tokens.chains.registry.chains import ChainInfo
from tokens.installation.market_sources import has_own_trades
from tokens.market import own_trending, provider_client, provider_rate_limit
from tokens.market.pool_statistics import PoolStatistics
from tokens.market.responses import TrendingToken
from tokens.market.trending_sorts import DEFAULT_TRENDING_SORT
from tokens.models import Token

FRESH_SECONDS = 300
# How long a stale page is served while the provider is down.
STALE_SECONDS = 86_400
# After a failure: until a stale page may be requested again, and a failed one.
RETRY_SECONDS = 30
# Increment it with every change to the cached value, a `PoolStatistics` list.
CACHE_VERSION = 1
# How long a request waits for a call slot.
_SLOT_TIMEOUT_SECONDS = 5.0
_CACHE_TIMES = CacheTimes(
    fresh=FRESH_SECONDS,
    ttl=STALE_SECONDS,
    wait_timeout=15.0,
    # A call slot, a connection, headers and a body, with a margin.
    lock_ttl=45.0,
)


@dataclass(frozen=True, kw_only=True)
class TrendingPage:
    """A page with trending pools, by `address_key`; `is_stale`: cached and expired."""

    pools: dict[str, TrendingToken]
    is_stale: bool


def fetch_trending_page(chain: ChainInfo, *, sort: str, page: int, limit: int | None, caller: str) -> TrendingPage:
    """Return page 1 to 10 of a chain's trending pools, without blocked tokens.

    With `limit`, only the page's first pools. `caller` is the client address: no address may use up the provider's
    rate limit.

    Each page is computed or fetched from the provider once in FRESH_SECONDS for all callers. Without a cached page,
    raises the provider's RetryableError or PermanentError, and NoCallSlotError if the rate limit allows no call.
    """
    shared = fetch_shared(
        f"trending:{CACHE_VERSION}:{chain.chain_id}:{sort}:{page}",
        lambda: [asdict(pool) for pool in _fetch_pools(chain, sort=sort, page=page, caller=caller)],
        times=_CACHE_TIMES,
    )
    records = _fetch_records(chain.chain_id, shared.value)
    pools: dict[str, TrendingToken] = {}
    for described in shared.value:
        record = records.get(described["address"]) or records.get(described["base_token"])
        if record and record["tags"]["blocked"]:
            continue
        if len(pools) == limit:
            break
        pools[described["address"]] = {**(record or {}), "pool": _without_tokens(described)}
    return TrendingPage(pools=pools, is_stale=shared.is_stale)


def _fetch_pools(chain: ChainInfo, *, sort: str, page: int, caller: str) -> Sequence[PoolStatistics]:
    if has_own_trades(chain.chain_id):
        return own_trending.read_pools(chain.chain_id, sort=sort, page=page)
    network = chain.market_network or ""
    # There are thousands of pages, and one that most clients request: no others may displace it.
    is_default = page == 1 and sort == DEFAULT_TRENDING_SORT
    if not is_default:
        _count_call(caller)
    try:
        # Half rate: public requests may cover any page and must leave slots to the refresh.
        with provider_rate_limit.call_slot(timeout=_SLOT_TIMEOUT_SECONDS, half_rate=not is_default):
            return provider_client.fetch_trending(network, sort=sort, page=page)
    except RedisError:
        # Without Redis there is no rate limit; the process cache limits calls to one per page in 5 minutes.
        return provider_client.fetch_trending(network, sort=sort, page=page)


def _count_call(caller: str) -> None:
    """Count a call for this address. Raises NoCallSlotError beyond half the public calls, a quarter of all calls."""
    calls_per_minute: int = settings.MARKET_CALLS_PER_MINUTE
    limit = max(calls_per_minute // 4, 1)
    # Without Redis there is no rate limit at all.
    with suppress(CountersUnavailableError):
        result = hit(f"trending:{caller}", limit=limit, seconds=240 * limit / calls_per_minute)
        if not result.allowed:
            raise provider_rate_limit.NoCallSlotError(retry_after=result.reset_seconds, circuit_open=False)


def _without_tokens(described: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in described.items() if name not in ("base_token", "quote_token")}


def _fetch_records(chain_id: int, described: Iterable[dict[str, Any]]) -> dict[str, TokenRecord]:
    """Return records by `address_key`, for pools and tokens, from one query."""
    pools = [parse_pool_address(pool["address"]) for pool in described]
    bases = [parse_address(pool["base_token"], allow_mint=True) for pool in described if pool["base_token"]]
    tokens = Token.objects.on_chain().filter(chain_id=chain_id)
    records = read_records(tokens.filter(Q(pool_address__in=pools) | Q(contract_address__in=bases)).order_by("-id"))
    by_token: dict[str, TokenRecord] = {address_key(record["contract_address"]): record for record in records}
    return by_token | {address_key(record["pool_address"]): record for record in records if record["pool_address"]}
