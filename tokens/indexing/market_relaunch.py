"""Market data through a reorg: kept for a token that returns in the same pool, reset for one in another pool."""

from collections.abc import Mapping, Sequence

from django.db.models import F, Q
from django.db.models.functions import Least
from django.utils import timezone

from tokens.chains.types import Launch
from tokens.models import Market, MarketPoint, Token
from tokens.models.market import FRESH_WITHIN, QUOTE_COLUMNS, RefreshPriority

_UNKNOWN = dict.fromkeys(["updated_at", *QUOTE_COLUMNS])


def reset_relaunched_markets(before: Sequence[Token], *, launches: Mapping[str, Launch]) -> None:
    """Schedule an early refresh for tokens that were hidden or are launched in another pool now; reset the latter.

    `before` are the tokens before their launches were written; `launches` are by contract address. Call it in the
    database transaction that has locked the tokens.
    """
    now = timezone.now()
    moved = [token.pk for token in before if token.pool_address != _pool(launches[token.contract_address])]
    back = [token.pk for token in before if token.unindexed]
    if back or moved:
        # While hidden, they may have been rescheduled to a late refresh.
        again = Market.objects.filter(pk__in={*back, *moved})
        # Locked in the same order as by the writer of market data, to avoid a deadlock.
        list(again.select_for_update().order_by("pk").values_list("pk"))
        fresh = Q(token__deployed_at__gt=now - FRESH_WITHIN)
        # A worker that queries the former pool stores nothing.
        again.update(due_at=Least(F("due_at"), now), leased_until=None)
        again.filter(fresh, priority__gt=RefreshPriority.FRESH).update(priority=RefreshPriority.FRESH)
    if moved:
        Market.objects.filter(pk__in=moved).update(by_address=False, attempts=0, **_UNKNOWN)
        # Only now: the writer of market data holds the market's row until its point is written, too.
        MarketPoint.objects.filter(token__in=moved).delete()


def filter_same_pool(markets: Sequence[Market], queried: Mapping[int, Token]) -> list[Market]:
    """Return those of the locked markets with tokens that are still in the pool that the provider was queried for.

    Call it after locking their rows: a transaction that changed a pool meanwhile has locked them, too.
    """
    tokens = Token.objects.on_chain().filter(pk__in=queried)
    pools = dict(tokens.values_list("pk", "pool_address"))
    return [market for market in markets if pools.get(market.pk) == queried[market.pk].pool_address]


def _pool(launch: Launch) -> str:
    return (launch.pool and launch.pool.address) or ""
