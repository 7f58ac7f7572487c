"""What tokens were worth before: price changes that the provider doesn't tell, and the end of old points."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from tokens.market.provider_responses import PERCENT
from tokens.models import Market, MarketPoint

# Column of Market -> how far back it looks.
SPANS = {
    "price_change_1h": timedelta(hours=1),
    "price_change_6h": timedelta(hours=6),
    "price_change_24h": timedelta(hours=24),
}
_PRUNED_AT_ONCE = 10_000


def earlier_prices(token_ids: Sequence[int], now: datetime) -> Mapping[int, Mapping[str, float | None]]:
    """Token id -> column of SPANS -> price in USD that long ago: the last one before, at most half the span older."""
    at_span = {
        column: Subquery(
            MarketPoint.objects.filter(token_id=OuterRef("pk"), at__lte=now - span, at__gt=now - span * 1.5)
            .order_by("-at")
            .values("price_usd")[:1]
        )
        for column, span in SPANS.items()
    }
    # Under names of their own, because the model has columns of these.
    named = {f"earlier_{column}": subquery for column, subquery in at_span.items()}
    rows = Market.objects.filter(pk__in=token_ids).annotate(**named).values_list("pk", *named)
    return {pk: dict(zip(SPANS, prices, strict=True)) for pk, *prices in rows}


def percent_change(price: float, earlier: float | None) -> float | None:
    """In percent points; None where it is unknown or nonsense."""
    if not earlier:
        return None
    percent = (price / earlier - 1) * 100
    return percent if PERCENT.lowest <= percent < PERCENT.highest else None


def prune() -> int:
    """Delete the points that are older than MARKET_HISTORY_DAYS, some at a time; returns how many."""
    cutoff = timezone.now() - timedelta(days=settings.MARKET_HISTORY_DAYS)
    pruned = 0
    while True:
        # Points are written in the order of their times, so that the lowest ids are the oldest and none is searched.
        oldest = MarketPoint.objects.order_by("pk").values("pk")[:_PRUNED_AT_ONCE]
        deleted, _ = MarketPoint.objects.filter(pk__in=oldest, at__lt=cutoff).delete()
        pruned += deleted
        if deleted < _PRUNED_AT_ONCE:
            return pruned
