"""What a token was worth, after a reorg: it goes on in the pool that it had, and starts anew in another one."""

from collections.abc import Mapping, Sequence
from dataclasses import fields

from django.db.models import F, Value
from django.db.models.functions import Least
from django.utils import timezone

from tokens.chains.base import Launch
from tokens.market_quotes import Quote
from tokens.market_schedule import Priority
from tokens.models import Market, MarketPoint, Token

_UNKNOWN = dict.fromkeys(["updated_at", *(field.name for field in fields(Quote))])


def follow_relaunched(before: Sequence[Token], *, launches: Mapping[str, Launch]) -> None:
    """Have the provider asked soon for tokens that were hidden, or that are now launched in another pool.

    `before` are tokens as they were before their launches were written, which are by contract address. To be called in
    the database transaction that has locked the tokens.
    """
    moved = [token.pk for token in before if token.pool_address != _pool(launches[token.contract_address])]
    back = [token.pk for token in before if token.unindexed]
    # While they were hidden, they may have been put off as nobody's business.
    soon = {
        "due_at": Least(F("due_at"), timezone.now()),
        "priority": Least(F("priority"), Value(Priority.FRESH.value)),
    }
    if back:
        Market.objects.filter(pk__in=back).update(**soon)
    if moved:
        Market.objects.filter(pk__in=moved).update(by_address=False, misses=0, **soon, **_UNKNOWN)
        # Only now: who writes an answer holds the market's row until its point is written, too.
        MarketPoint.objects.filter(token__in=moved).delete()


def _pool(launch: Launch) -> str:
    return (launch.pool and launch.pool.address) or ""
