"""Refresh of market data: claims due rows, fetches quotes from the provider, and stores them with their history.

The rows of Market are a leased queue (`config.queue`): a row stays due until a quote is stored, even if the worker, the
provider or Redis fails in between. `refresh_schedule` defines when rows are due, `provider_rate_limit` when calls are
allowed.
"""

import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from itertools import islice

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce, Greatest, Least
from django.utils import timezone
from redis.exceptions import LockError, RedisError

from config.http.errors import HTTPStatusError, PermanentError, RetryableError
from config.redis.connection import PREFIX, redis_client
from tokens.catalogue import viewed_tokens
from tokens.chains.addresses import address_key
from tokens.indexing import market_relaunch
from tokens.installation.installed_registry import registry
from tokens.market import provider_client, provider_rate_limit, refresh_schedule
from tokens.market.price_history import CHANGE_SPANS, earlier_prices, percent_change
from tokens.market.quotes import Quote, quote_from_pool, quote_from_token
from tokens.market.refresh_schedule import INTERVALS, LEASE
from tokens.models import Market, MarketPoint, Token
from tokens.models.market import FRESH_WITHIN, MarketQuerySet, RefreshPriority

logger = logging.getLogger(__name__)

REFRESHING_KEY = f"{PREFIX}market:refreshing"
CALLS_KEY = f"{PREFIX}market:calls"

# How long a worker waits for a call slot; on timeout it leaves the remaining rows to the next task.
SLOT_TIMEOUT_SECONDS = 1.0
# Longer while bisecting a rejected batch, because a timeout would repeat the bisection from the start.
HALVING_SLOT_TIMEOUT_SECONDS = 10.0
# Time limit of a task; the next one continues.
TASK_SECONDS = 20.0

# Number of candidate rows per row of a batch, because the rows of a call must be of one network.
_CANDIDATE_BATCHES = 8
# Limit of consecutive claims without a usable row; the provider has no data for these rows, so they are deferred.
_ROUNDS = 20
_MAX_VIEWED = 1000
# A view refreshes `viewed_at` if the stored one is older than this.
_VIEW_TTL = timedelta(minutes=1)

_QUOTE_FIELDS = [field.name for field in fields(Quote)]
_POINT_FIELDS = ("price_usd", "market_cap", "volume_24h", "liquidity_usd", "tx_count_24h")
_QUEUE_FIELDS = ("due_at", "leased_until", "attempts", "unfinished", "last_error")
_UPDATED_FIELDS = [*_QUOTE_FIELDS, *_QUEUE_FIELDS, "updated_at", "priority", "by_address"]
_TOKEN_COLUMNS = (
    "chain_id",
    "contract_address",
    "pool_address",
    "paired_token",
    "supply",
    "decimals",
    "deployed_at",
    "unindexed",
)


@dataclass(frozen=True, kw_only=True)
class RefreshBatch:
    """Rows of one network for one call, by their pools or by their tokens; claimed until `lease_end`."""

    network: str
    by_address: bool
    tokens: Mapping[int, Token]
    lease_end: datetime


@dataclass(frozen=True, kw_only=True)
class FetchedQuote:
    """Quote of a token, and whether to query it by token address next time, because the pool is unknown."""

    quote: Quote
    by_address: bool


def refresh_due_markets() -> int:
    """Refresh due rows while call slots are available; return the number of tokens with new data.

    Only one worker runs it at a time: beat enqueues the task every few seconds, and concurrent runs could occupy all
    workers.
    """
    if not settings.MARKET_DATA:
        return 0
    deadline = time.monotonic() + TASK_SECONDS
    refreshed = 0
    try:
        # The lock's TTL equals the row lease: if the worker crashes, both expire together. If the lock expires during
        # a run, the leases still prevent duplicate refreshes.
        with redis_client().lock(REFRESHING_KEY, timeout=LEASE.total_seconds(), blocking=False):
            prioritize_viewed()
            while time.monotonic() < deadline and provider_rate_limit.seconds_until_slot() <= SLOT_TIMEOUT_SECONDS:
                batch = claim_batch(timezone.now(), number=redis_client().incr(CALLS_KEY))
                if batch is None:
                    break
                refreshed += refresh_batch(batch)
    except (provider_rate_limit.NoCallSlotError, LockError):
        pass
    except RedisError as error:
        logger.warning("market refresh stopped, Redis failed: %s", error)
    except (RetryableError, PermanentError) as error:
        logger.warning("market refresh stopped, the provider failed: %s", error)
    return refreshed


def prioritize_viewed() -> int:
    """Give viewed tokens the first priority, due a minute after their last data; return the number of new views.

    Raises RedisError.
    """
    viewed = viewed_tokens.pop_viewed(_MAX_VIEWED)
    if not viewed:
        return 0
    now = timezone.now()
    with transaction.atomic():
        # Locked rows are skipped, which prevents deadlocks with writers.
        rows = Market.objects.filter(pk__in=viewed).exclude(viewed_at__gt=now - _VIEW_TTL)
        renewed = list(rows.select_for_update(skip_locked=True).values_list("pk", flat=True))
        again = Coalesce(F("updated_at") + INTERVALS[RefreshPriority.VIEWED], now)
        changed = Market.objects.filter(pk__in=renewed)
        changed.filter(attempts=0).update(
            viewed_at=now, priority=RefreshPriority.VIEWED, due_at=Least(F("due_at"), Greatest(again, now))
        )
        changed.filter(attempts__gt=0).update(
            viewed_at=now, due_at=Least(F("due_at"), now + refresh_schedule.MAX_VIEWED_MISS_BACKOFF)
        )
    return len(renewed)


def claim_batch(now: datetime, *, number: int = 0) -> RefreshBatch | None:
    """Claim the next batch for one lease from `now`; return None if no row is due.

    `number` is the sequence number of the call, which determines its sequence of priorities.
    """
    size = settings.MARKET_ADDRESSES_PER_CALL
    for _ in range(_ROUNDS):
        candidates = _find_due(now, number, count=size * _CANDIDATE_BATCHES)
        if not candidates:
            return None
        useful = [market for market in candidates if _network(market.token) and not market.token.unindexed]
        if not useful:
            useless = Market.objects.filter(pk__in=[market.pk for market in candidates]).due(now)
            useless.release(due_at=now + refresh_schedule.NO_NETWORK_BACKOFF, priority=RefreshPriority.OTHER)
            continue
        network, by_address = _batch_key(useful[0])
        same = islice((market for market in useful if _batch_key(market) == (network, by_address)), size)
        tokens = {market.pk: market.token for market in same}
        # Another worker may have claimed some of them since.
        if claimed := Market.objects.filter(pk__in=tokens).claim(now, lease=LEASE):
            return RefreshBatch(
                network=network,
                by_address=by_address,
                tokens={market.pk: tokens[market.pk] for market in claimed},
                lease_end=now + LEASE,
            )
    return None


def refresh_batch(batch: RefreshBatch, *, timeout: float = SLOT_TIMEOUT_SECONDS) -> int:
    """Fetch a batch from the provider and store the quotes; return the number of tokens with new data.

    Raises NoCallSlotError, RetryableError, PermanentError and RedisError. The rows are due again then, at the latest
    after their lease.
    """
    try:
        with provider_rate_limit.call_slot(timeout=timeout):
            found = _fetch_quotes(batch)
    except HTTPStatusError as error:
        if provider_rate_limit.is_key_rejected(error):
            _held(batch).release(due_at=timezone.now())
            raise
        return _refresh_halves(batch, error)
    except (RetryableError, PermanentError, RedisError):
        _held(batch).release(due_at=timezone.now())
        raise
    _store(batch, found, timezone.now())
    return len(found)


def _refresh_halves(batch: RefreshBatch, error: HTTPStatusError) -> int:
    """Refresh a rejected batch by halves, to isolate the row that the provider rejects; that row is deferred."""
    if len(batch.tokens) == 1:
        logger.warning("the market-data provider rejected the request for token %s: %s", *batch.tokens, error)
        _held(batch).release(due_at=timezone.now() + refresh_schedule.REJECTED_BACKOFF, last_error=str(error))
        return 0
    rows = list(batch.tokens.items())
    middle = len(rows) // 2
    halves = (replace(batch, tokens=dict(half)) for half in (rows[:middle], rows[middle:]))
    return sum(refresh_batch(half, timeout=HALVING_SLOT_TIMEOUT_SECONDS) for half in halves)


def _find_due(now: datetime, number: int, *, count: int) -> list[Market]:
    found: list[Market] = []
    columns = (f"token__{name}" for name in _TOKEN_COLUMNS)
    rows = Market.objects.due(now).select_related("token").only("by_address", *columns)
    # A query per priority reads only due rows from the index.
    for priority in refresh_schedule.priorities_of_call(number):
        found += rows.filter(priority=priority)[: count - len(found)]
        if len(found) == count:
            break
    return found


def _batch_key(market: Market) -> tuple[str, bool]:
    return _network(market.token) or "", market.by_address or not market.token.pool_address


def _network(token: Token) -> str | None:
    chain = registry().chains.get(token.chain_id)
    return chain.market_network if chain else None


def _fetch_quotes(batch: RefreshBatch) -> dict[int, FetchedQuote]:
    """Fetch quotes by token id; tokens without a valid quote are absent."""
    found = _fetch_quotes_by_token(batch) if batch.by_address else _fetch_quotes_by_pool(batch)
    return {pk: fetched for pk, fetched in found.items() if fetched}


def _fetch_quotes_by_pool(batch: RefreshBatch) -> dict[int, FetchedQuote | None]:
    addresses = list(dict.fromkeys(token.pool_address for token in batch.tokens.values()))
    pools = {pool.address: pool for pool in provider_client.fetch_pools(batch.network, addresses)}
    found: dict[int, FetchedQuote | None] = {}
    for pk, token in batch.tokens.items():
        pool = pools.get(address_key(token.pool_address))
        quote = pool and quote_from_pool(pool, token=address_key(token.contract_address), supply=_supply(token))
        found[pk] = FetchedQuote(quote=quote, by_address=False) if quote else None
    return found


def _fetch_quotes_by_token(batch: RefreshBatch) -> dict[int, FetchedQuote | None]:
    addresses = [token.contract_address for token in batch.tokens.values()]
    responses = {response.address: response for response in provider_client.fetch_tokens(batch.network, addresses)}
    found: dict[int, FetchedQuote | None] = {}
    for pk, token in batch.tokens.items():
        response = responses.get(address_key(token.contract_address))
        quote = response and quote_from_token(
            response, paired_token=address_key(token.paired_token), supply=_supply(token)
        )
        # If the provider lists the pool by now, the next query uses it: a pool has more data.
        in_pool = response and any(pool.address == address_key(token.pool_address) for pool in response.top_pools)
        found[pk] = FetchedQuote(quote=quote, by_address=not in_pool) if quote else None
    return found


def _supply(token: Token) -> float | None:
    """Return the supply in whole tokens."""
    return None if token.supply is None else int(token.supply) / 10**token.decimals


def _held(batch: RefreshBatch) -> MarketQuerySet:
    """Return the rows of the batch that no other worker has claimed since."""
    return Market.objects.filter(pk__in=batch.tokens, leased_until=batch.lease_end)


def _store(batch: RefreshBatch, found: Mapping[int, FetchedQuote], now: datetime) -> None:
    with transaction.atomic():
        # Locked by primary key, which prevents deadlocks between writers.
        markets = list(_held(batch).select_for_update().order_by("pk"))
        markets = market_relaunch.filter_same_pool(markets, batch.tokens)
        incomplete = [
            pk for pk, fetched in found.items() if any(getattr(fetched.quote, name) is None for name in CHANGE_SPANS)
        ]
        earlier = earlier_prices(incomplete, now) if incomplete else {}
        for market in markets:
            token, fetched = batch.tokens[market.pk], found.get(market.pk)
            market.leased_until, market.unfinished, market.last_error = None, 0, ""
            if fetched:
                _apply_quote(market, fetched, earlier=earlier.get(market.pk, {}), now=now)
            elif batch.by_address:
                # Neither pool nor token is known; the next attempt starts with the pool. Older data is retained.
                market.attempts = min(market.attempts + 1, refresh_schedule.MAX_MISSES)
                market.by_address = False
            else:
                market.by_address, market.due_at = True, now
            if fetched or batch.by_address:
                _schedule(market, token, now=now)
        Market.objects.bulk_update(markets, _UPDATED_FIELDS)
        MarketPoint.objects.bulk_create(
            MarketPoint(token_id=market.pk, at=now, **{name: getattr(market, name) for name in _POINT_FIELDS})
            for market in markets
            if market.pk in found
        )


def _apply_quote(market: Market, fetched: FetchedQuote, *, earlier: Mapping[str, float | None], now: datetime) -> None:
    values = asdict(fetched.quote)
    for column in CHANGE_SPANS:
        if values[column] is None:
            values[column] = percent_change(fetched.quote.price_usd, earlier.get(column))
    for name, value in values.items():
        setattr(market, name, value)
    market.updated_at, market.attempts, market.by_address = now, 0, fetched.by_address


def _schedule(market: Market, token: Token, *, now: datetime) -> None:
    market.priority = refresh_schedule.refresh_priority(
        now, viewed_at=market.viewed_at, deployed_at=token.deployed_at, tx_count_24h=market.tx_count_24h
    )
    if market.attempts == 0:
        delay = INTERVALS[RefreshPriority(market.priority)]
    else:
        fresh = now - token.deployed_at < FRESH_WITHIN
        delay = refresh_schedule.backoff_after_miss(market.attempts, fresh=fresh)
        if market.priority == RefreshPriority.VIEWED:
            delay = min(delay, refresh_schedule.MAX_VIEWED_MISS_BACKOFF)
    market.due_at = now + delay
