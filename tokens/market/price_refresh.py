"""Market data refreshes from the provider, on MARKET_PROVIDER_CHAINS.

The rows of `ProviderRefresh` are a leased queue (`config.postgresql.leased_queue`): a row stays due until a response is
stored, even if the worker, the provider or Redis fails in between. `provider_rate_limit` defines when calls are
allowed.

| token                              | due again after                               |
|------------------------------------|------------------------------------------------|
| launched or traded in the last day | 5 minutes                                      |
| any other                          | a day                                          |
| in a rejected call                 | 5 minutes, doubled up to a day, spread twofold |
"""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from redis.exceptions import LockError, RedisError

from config.http.backoff import Backoff
from config.http.errors import HTTPStatusError, PermanentError, RetryableError
from config.redis.connection import PREFIX, redis_client
from tokens.chains.addresses import address_key
from tokens.installation.installed_registry import provider_networks, registry
from tokens.market import provider_client, provider_rate_limit
from tokens.market.quotes import Quote, quote_from_pool
from tokens.models import Market, ProviderRefresh, Token
from tokens.models.market import MARKET_COLUMNS

logger = logging.getLogger(__name__)

REFRESHING_KEY = f"{PREFIX}market:refreshing"

# A worker that stores nothing within its lease has crashed.
LEASE = timedelta(seconds=60)
FRESH_WITHIN = timedelta(days=1)
ACTIVE_INTERVAL = timedelta(minutes=5)
QUIET_INTERVAL = timedelta(days=1)
# Timeout for a call slot; then the worker leaves the remaining rows to the next task.
SLOT_TIMEOUT_SECONDS = 1.0
# Time limit per task; the next one continues.
TASK_SECONDS = 20.0

_REJECTED = Backoff(first=300, longest=86_400)
# Tokens queued at once; more than the provider's rate limit can refresh until the next task.
_MAX_QUEUED = 10_000
# Due rows read per row in a batch, because one call's rows must share a network.
_CANDIDATE_BATCHES = 4


def queue_provider_tokens() -> int:
    """Queue missing tokens on the provider's chains, due now, the newest first; return their number.

    Rows on chains that have left MARKET_PROVIDER_CHAINS are deleted.
    """
    chains = list(provider_networks())
    ProviderRefresh.objects.exclude(token__chain_id__in=chains).delete()
    if not chains:
        return 0
    new = Token.objects.on_chain().filter(chain_id__in=chains, provider_refresh=None).exclude(pool_address="")
    ids = new.order_by("-pk").values_list("pk", flat=True)[:_MAX_QUEUED]
    ProviderRefresh.objects.bulk_create((ProviderRefresh(token_id=pk) for pk in ids), ignore_conflicts=True)
    return len(ids)


def refresh_due_markets() -> int:
    """Refresh due rows while call slots are available; return how many tokens have new data.

    Only one worker runs it at a time: beat enqueues the task every few seconds, and concurrent runs could occupy all
    workers.
    """
    if not settings.MARKET_PROVIDER_CHAINS:
        return 0
    deadline = time.monotonic() + TASK_SECONDS
    refreshed = 0
    try:
        # The lock's TTL equals the row lease: if the worker crashes, both expire together. If the lock expires during
        # a run, the leases still prevent duplicate refreshes.
        with redis_client().lock(REFRESHING_KEY, timeout=LEASE.total_seconds(), blocking=False):
            while time.monotonic() < deadline and provider_rate_limit.seconds_until_slot() <= SLOT_TIMEOUT_SECONDS:
                rows = claim_batch(timezone.now())
                if not rows:
                    break
                refreshed += refresh_batch(rows)
    except (provider_rate_limit.NoCallSlotError, LockError):
        pass
    except RedisError as error:
        logger.warning("market refresh stopped, Redis failed: %s", error)
    except (RetryableError, PermanentError) as error:
        logger.warning("market refresh stopped, the provider failed: %s", error)
    return refreshed


def claim_batch(now: datetime) -> list[ProviderRefresh]:
    """Claim one chain's due rows for one call, the longest due first, with their tokens."""
    size = settings.MARKET_ADDRESSES_PER_CALL
    due = ProviderRefresh.objects.due(now).filter(token__chain_id__in=provider_networks()).select_related("token")
    candidates = list(due[: size * _CANDIDATE_BATCHES])
    tokens = {row.pk: row.token for row in candidates if row.token.chain_id == candidates[0].token.chain_id}
    rows = ProviderRefresh.objects.filter(pk__in=list(tokens)[:size]).claim(now, lease=LEASE)
    for row in rows:
        row.token = tokens[row.pk]
    return rows


def refresh_batch(rows: Sequence[ProviderRefresh]) -> int:
    """Fetch the claimed rows' pools from the provider and store the quotes; return how many tokens have one.

    Raises NoCallSlotError, RetryableError, PermanentError and RedisError. The rows are due again then, at the latest
    after their lease.
    """
    try:
        with provider_rate_limit.call_slot(timeout=SLOT_TIMEOUT_SECONDS):
            quotes = fetch_quotes([row.token for row in rows])
    except (RetryableError, PermanentError, RedisError) as error:
        if isinstance(error, HTTPStatusError) and not provider_rate_limit.is_key_rejected(error):
            _defer_rejected(rows, error)
            return 0
        ProviderRefresh.objects.held(rows).release(due_at=timezone.now())
        raise
    _store_quotes(rows, quotes)
    return len(quotes)


def fetch_quotes(tokens: Sequence[Token]) -> dict[int, Quote]:
    """Return token id -> quote, fetched for one chain's tokens in their pools, without invalid quotes."""
    network = registry().chains[tokens[0].chain_id].market_network or ""
    addresses = list(dict.fromkeys(token.pool_address for token in tokens))
    pools = {pool.address: pool for pool in provider_client.fetch_pools(network, addresses)}
    quotes = {}
    for token in tokens:
        pool = pools.get(address_key(token.pool_address))
        supply = None if token.supply is None else int(token.supply) / 10**token.decimals
        quote = pool and quote_from_pool(pool, token=address_key(token.contract_address), supply=supply)
        if quote:
            quotes[token.pk] = quote
    return quotes


def _defer_rejected(rows: Sequence[ProviderRefresh], error: HTTPStatusError) -> None:
    """Defer a rejected call's rows, one after another: their next calls separate the rejected pool from others."""
    logger.warning("the market-data provider rejected the pools of %s tokens: %s", len(rows), error)
    now = timezone.now()
    with transaction.atomic():
        for number, row in enumerate(ProviderRefresh.objects.held(rows).select_for_update().order_by("pk"), start=1):
            delay = _REJECTED.delay(row.attempts + 1) * (1 + number / len(rows))
            ProviderRefresh.objects.filter(pk=row.pk).fail(error, due_at=now + timedelta(seconds=delay))


def _store_quotes(rows: Sequence[ProviderRefresh], quotes: Mapping[int, Quote]) -> None:
    """Store quotes for tokens that are still in the requested pool, and when the rows are due again.

    A trigger stores `markets.changed`.
    """
    now = timezone.now()
    with transaction.atomic():
        # A relaunch in another pool has deleted the row, or waits for it and then resets the market.
        held = set(ProviderRefresh.objects.held(rows).select_for_update().order_by("pk").values_list("pk", flat=True))
        markets = [Market(pk=pk, updated_at=now, **asdict(quote)) for pk, quote in quotes.items() if pk in held]
        # Also columns that the provider lacks: the chain may have had own trades before.
        Market.objects.bulk_update(markets, MARKET_COLUMNS)
        active = {
            row.pk
            for row in rows
            if now - row.token.deployed_at < FRESH_WITHIN or (row.pk in quotes and quotes[row.pk].tx_count_24h)
        }
        ProviderRefresh.objects.filter(pk__in=held & active).requeue(due_at=now + ACTIVE_INTERVAL)
        ProviderRefresh.objects.filter(pk__in=held - active).requeue(due_at=now + QUIET_INTERVAL)
