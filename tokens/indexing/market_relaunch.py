"""Market data through a reorg: it goes on in the pool that the token had, and starts anew in another one."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

from django.db.models import F, Q
from django.db.models.functions import Least
from django.utils import timezone

from tokens.chains.types import Launch
from tokens.market.quotes import Quote
from tokens.market.refresh_schedule import FRESH_WITHIN, Priority
from tokens.models import Market, MarketPoint, Token

_UNKNOWN = dict.fromkeys(["updated_at", *(field.name for field in fields(Quote))])


def follow_relaunched(before: Sequence[Token], *, launches: Mapping[str, Launch]) -> None:
    """Have the provider asked soon for tokens that were hidden, or that are now launched in another pool.

    `before` are tokens as they were before their launches were written, which are by contract address. To be called in
    the database transaction that has locked the tokens.
    """
    now = timezone.now()
    moved = [token.pk for token in before if token.pool_address != _pool(launches[token.contract_address])]
    back = [token.pk for token in before if token.unindexed]
    if back or moved:
        # While they were hidden, they may have been put off as nobody's business.
        again = Market.objects.filter(pk__in={*back, *moved})
        # In the order of whoever writes answers, so that neither waits for the other in a circle.
        list(again.select_for_update().order_by("pk").values_list("pk"))
        fresh = Q(token__deployed_at__gt=now - FRESH_WITHIN)
        again.update(due_at=Least(F("due_at"), now))
        again.filter(fresh, priority__gt=Priority.FRESH).update(priority=Priority.FRESH)
    if moved:
        Market.objects.filter(pk__in=moved).update(by_address=False, misses=0, **_UNKNOWN)
        # Only now: who writes an answer holds the market's row until its point is written, too.
        MarketPoint.objects.filter(token__in=moved).delete()


def still_there(markets: Sequence[Market], asked: Mapping[int, Token]) -> list[Market]:
    """Those of locked markets whose tokens are launched in the pool in which the provider was `asked` for them.

    To be called after their rows are locked: whoever changed a pool meanwhile has locked them, too.
    """
    tokens = Token.objects.on_chain().filter(pk__in=asked)
    pools = dict(tokens.values_list("pk", "pool_address"))
    return [market for market in markets if pools.get(market.pk) == asked[market.pk].pool_address]


def _pool(launch: Launch) -> str:
    return (launch.pool and launch.pool.address) or ""
