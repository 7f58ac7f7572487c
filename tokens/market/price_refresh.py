"""Keeps the tokens' market data: takes what is due, asks the provider, and writes what it says with its history.

The truth is in the rows of Market: one is due until an answer is written, whatever happens to the worker, the provider
or Redis in between. market_schedule says who is due when, market_pace when the provider may be called.
"""

import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from itertools import islice

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce, Greatest, Least
from django.utils import timezone
from redis.exceptions import LockError, RedisError

from config.http.json_client import Permanent, Retryable, StatusRefused
from config.redis.connection import PREFIX, redis
from tokens.catalogue import viewed_tokens
from tokens.chains.addresses import address_key
from tokens.indexing import market_relaunch
from tokens.installation.installed_chains import registry
from tokens.market import provider_client, provider_rate_limit, refresh_schedule
from tokens.market.price_history import SPANS, earlier_prices, percent_change
from tokens.market.quotes import Quote, quote_in_pool, quote_of_token
from tokens.market.refresh_schedule import INTERVALS, LEASE, Priority
from tokens.models import Market, MarketPoint, Token

logger = logging.getLogger(__name__)

REFRESHING_KEY = f"{PREFIX}market:refreshing"
CALLS_KEY = f"{PREFIX}market:calls"

# How long a worker waits for its turn before it leaves the rest to the next task.
PATIENCE_SECONDS = 1.0
# Whoever looks for an address that the provider refuses waits, so that the same call is not made again meanwhile.
HALVING_PATIENCE_SECONDS = 10.0
# A task ends after so long, and the next one goes on.
TASK_SECONDS = 20.0

# A batch is put together from so many times as many rows, because those of one call belong to one network.
_CANDIDATE_BATCHES = 8
# Rows that no provider has data of are put off, so many times in a row until the next task.
_ROUNDS = 20
_VIEWED_AT_ONCE = 1000
# A view that was noted this long ago is noted again.
_VIEW_RENEWED_AFTER = timedelta(minutes=1)

_QUOTE_FIELDS = [field.name for field in fields(Quote)]
_POINT_FIELDS = ("price_usd", "market_cap", "volume_24h", "liquidity_usd", "tx_count_24h")
_WRITTEN = [*_QUOTE_FIELDS, "updated_at", "due_at", "priority", "by_address", "misses"]
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
class Batch:
    """Rows of one network that one call asks for, by their pools or by their tokens; taken until `lease_end`."""

    network: str
    by_address: bool
    tokens: Mapping[int, Token]
    lease_end: datetime


@dataclass(frozen=True, kw_only=True)
class Found:
    """What the provider says of a token, and whether its pool is of no use for asking."""

    quote: Quote
    by_address: bool


def refresh_due() -> int:
    """Refresh what is due, for as long as turns are there; returns how many tokens got new data.

    One worker does so at a time: beat sends for the next one every few seconds, and while turns come fast enough for
    all to stay, nobody would be left for other tasks.
    """
    if not settings.MARKET_DATA:
        return 0
    deadline = time.monotonic() + TASK_SECONDS
    refreshed = 0
    try:
        # Who dies with it loses the lease of his rows as soon. Should it run out too early, these keep two apart.
        with redis().lock(REFRESHING_KEY, timeout=LEASE.total_seconds(), blocking=False):
            take_up_views()
            while time.monotonic() < deadline and provider_rate_limit.waiting_time() <= PATIENCE_SECONDS:
                batch = claim(timezone.now(), number=redis().incr(CALLS_KEY))
                if batch is None:
                    break
                refreshed += refresh(batch)
    except (provider_rate_limit.NotNow, LockError):
        pass
    except RedisError as error:
        logger.warning("market data waits for Redis: %s", error)
    except (Retryable, Permanent) as error:
        logger.warning("market data waits for its provider: %s", error)
    return refreshed


def take_up_views() -> int:
    """Put the tokens that were viewed first, due a minute after their last data; returns how many were new.

    Raises RedisError.
    """
    viewed = viewed_tokens.take(_VIEWED_AT_ONCE)
    if not viewed:
        return 0
    now = timezone.now()
    with transaction.atomic():
        # Rows that are being written now are left out, so that nobody waits in a circle.
        rows = Market.objects.filter(pk__in=viewed).exclude(viewed_at__gt=now - _VIEW_RENEWED_AFTER)
        renewed = list(rows.select_for_update(skip_locked=True).values_list("pk", flat=True))
        again = Coalesce(F("updated_at") + INTERVALS[Priority.VIEWED], now)
        changed = Market.objects.filter(pk__in=renewed)
        changed.filter(misses=0).update(
            viewed_at=now, priority=Priority.VIEWED, due_at=Least(F("due_at"), Greatest(again, now))
        )
        changed.filter(misses__gt=0).update(
            viewed_at=now, due_at=Least(F("due_at"), now + refresh_schedule.VIEWED_MISS_PAUSE)
        )
    return len(renewed)


def claim(now: datetime, *, number: int = 0) -> Batch | None:
    """The next batch, which counts as taken for one lease from now; None where nothing is due.

    `number` counts the calls, of which each has its own order of priorities.
    """
    size = settings.MARKET_ADDRESSES_PER_CALL
    for _ in range(_ROUNDS):
        with transaction.atomic():
            order = refresh_schedule.order_of_call(number)
            candidates = _lock_due(now, order, count=size * _CANDIDATE_BATCHES)
            useful = [market for market in candidates if _network(market.token) and not market.token.unindexed]
            if useful:
                batch = _batch(useful, size=size, lease_end=now + LEASE)
                Market.objects.filter(pk__in=batch.tokens).update(due_at=batch.lease_end)
                return batch
            if not candidates:
                return None
            useless = Market.objects.filter(pk__in=[market.pk for market in candidates])
            useless.update(due_at=now + refresh_schedule.NO_NETWORK_PAUSE, priority=Priority.OTHER)
    return None


def refresh(batch: Batch, *, patience: float = PATIENCE_SECONDS) -> int:
    """Ask the provider for a batch and write its answer; returns how many tokens got new data.

    Raises NotNow, Retryable, Permanent and RedisError; the rows are due again then, at the latest after their lease.
    """
    try:
        with provider_rate_limit.turn(patience=patience):
            found = _ask(batch)
    except StatusRefused as refused:
        if provider_rate_limit.is_about_key(refused):
            _release(batch, due_at=timezone.now())
            raise
        return _part(batch, refused)
    except (Retryable, Permanent, RedisError):
        _release(batch, due_at=timezone.now())
        raise
    _write(batch, found, timezone.now())
    return len(found)


def _part(batch: Batch, refused: StatusRefused) -> int:
    """Ask for each half of a batch that was refused, until the one is found that is why; it is put off."""
    if len(batch.tokens) == 1:
        logger.warning("the market-data provider refuses a call for token %s: %s", *batch.tokens, refused)
        _release(batch, due_at=timezone.now() + refresh_schedule.REFUSED_PAUSE)
        return 0
    rows = list(batch.tokens.items())
    middle = len(rows) // 2
    halves = (replace(batch, tokens=dict(half)) for half in (rows[:middle], rows[middle:]))
    return sum(refresh(half, patience=HALVING_PATIENCE_SECONDS) for half in halves)


def _lock_due(now: datetime, order: Iterable[Priority], *, count: int) -> list[Market]:
    found: list[Market] = []
    # One query for each priority reads what is due and nothing else from the index.
    for priority in order:
        rows = Market.objects.due(now, priority=priority).select_related("token")
        columns = (f"token__{name}" for name in _TOKEN_COLUMNS)
        locked = rows.only("by_address", *columns).select_for_update(of=("self",), skip_locked=True)
        found += locked[: count - len(found)]
        if len(found) == count:
            break
    return found


def _batch(markets: list[Market], *, size: int, lease_end: datetime) -> Batch:
    """The first row, and those after it that the same call can ask for."""
    kind = _kind(markets[0])
    same = islice((market for market in markets if _kind(market) == kind), size)
    network, by_address = kind
    return Batch(
        network=network, by_address=by_address, tokens={market.pk: market.token for market in same}, lease_end=lease_end
    )


def _kind(market: Market) -> tuple[str, bool]:
    return _network(market.token) or "", market.by_address or not market.token.pool_address


def _network(token: Token) -> str | None:
    chain = registry().chains.get(token.chain_id)
    return chain.market_network if chain else None


def _ask(batch: Batch) -> dict[int, Found]:
    """What the provider says, by token id; what it doesn't know and what makes no sense is absent."""
    found = _ask_for_tokens(batch) if batch.by_address else _ask_for_pools(batch)
    return {pk: known for pk, known in found.items() if known}


def _ask_for_pools(batch: Batch) -> dict[int, Found | None]:
    addresses = list(dict.fromkeys(token.pool_address for token in batch.tokens.values()))
    pools = {pool.address: pool for pool in provider_client.fetch_pools(batch.network, addresses)}
    found: dict[int, Found | None] = {}
    for pk, token in batch.tokens.items():
        pool = pools.get(address_key(token.pool_address))
        quote = pool and quote_in_pool(pool, token=address_key(token.contract_address), supply=_supply(token))
        found[pk] = Found(quote=quote, by_address=False) if quote else None
    return found


def _ask_for_tokens(batch: Batch) -> dict[int, Found | None]:
    addresses = [token.contract_address for token in batch.tokens.values()]
    answers = {answer.address: answer for answer in provider_client.fetch_tokens(batch.network, addresses)}
    found: dict[int, Found | None] = {}
    for pk, token in batch.tokens.items():
        answer = answers.get(address_key(token.contract_address))
        quote = answer and quote_of_token(answer, paired_token=address_key(token.paired_token), supply=_supply(token))
        # By now it may know the pool, too, whose answer says more.
        in_pool = answer and any(pool.address == address_key(token.pool_address) for pool in answer.top_pools)
        found[pk] = Found(quote=quote, by_address=not in_pool) if quote else None
    return found


def _supply(token: Token) -> float | None:
    """In whole tokens."""
    return None if token.supply is None else int(token.supply) / 10**token.decimals


def _release(batch: Batch, *, due_at: datetime) -> None:
    """End the lease of rows that got no answer."""
    Market.objects.filter(pk__in=batch.tokens, due_at=batch.lease_end).update(due_at=due_at)


def _write(batch: Batch, found: Mapping[int, Found], now: datetime) -> None:
    with transaction.atomic():
        # In one order, so that two writers can't wait for each other.
        markets = list(Market.objects.filter(pk__in=batch.tokens).select_for_update().order_by("pk"))
        markets = market_relaunch.still_there(markets, batch.tokens)
        unsaid = [pk for pk, known in found.items() if any(getattr(known.quote, name) is None for name in SPANS)]
        earlier = earlier_prices(unsaid, now) if unsaid else {}
        for market in markets:
            token, known = batch.tokens[market.pk], found.get(market.pk)
            if known:
                _fill(market, known, earlier=earlier.get(market.pk, {}), now=now)
            elif batch.by_address:
                # Neither is known; the next try begins with the pool. What was known before stays.
                market.misses = min(market.misses + 1, refresh_schedule.MOST_MISSES)
                market.by_address = False
            else:
                market.by_address, market.due_at = True, now
            if known or batch.by_address:
                _schedule(market, token, now=now)
        Market.objects.bulk_update(markets, _WRITTEN)
        MarketPoint.objects.bulk_create(
            MarketPoint(token_id=market.pk, at=now, **{name: getattr(market, name) for name in _POINT_FIELDS})
            for market in markets
            if market.pk in found
        )


def _fill(market: Market, known: Found, *, earlier: Mapping[str, float | None], now: datetime) -> None:
    values = asdict(known.quote)
    for column in SPANS:
        if values[column] is None:
            values[column] = percent_change(known.quote.price_usd, earlier.get(column))
    for name, value in values.items():
        setattr(market, name, value)
    market.updated_at, market.misses, market.by_address = now, 0, known.by_address


def _schedule(market: Market, token: Token, *, now: datetime) -> None:
    market.priority = refresh_schedule.priority(
        now, viewed_at=market.viewed_at, deployed_at=token.deployed_at, tx_count_24h=market.tx_count_24h
    )
    if market.misses == 0:
        pause = INTERVALS[Priority(market.priority)]
    else:
        fresh = now - token.deployed_at < refresh_schedule.FRESH_WITHIN
        pause = refresh_schedule.pause_after_miss(market.misses, fresh=fresh)
        if market.priority == Priority.VIEWED:
            pause = min(pause, refresh_schedule.VIEWED_MISS_PAUSE)
    market.due_at = now + pause
