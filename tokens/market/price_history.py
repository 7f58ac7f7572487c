"""Price history: price changes that the provider does not report, and pruning of old points."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from tokens.market.provider_responses import PERCENT
from tokens.models import Market, MarketPoint

# Column of Market -> its time span.
CHANGE_SPANS = {
    "price_change_1h": timedelta(hours=1),
    "price_change_6h": timedelta(hours=6),
    "price_change_24h": timedelta(hours=24),
}
_PRUNE_BATCH = 10_000


def earlier_prices(token_ids: Sequence[int], now: datetime) -> Mapping[int, Mapping[str, float | None]]:
    """Return token id -> column of CHANGE_SPANS -> price in USD at the start of the span.

    It is the last price before the start of the span, at most half a span older.
    """
    at_span = {
        column: Subquery(
            MarketPoint.objects.filter(token_id=OuterRef("pk"), at__lte=now - span, at__gt=now - span * 1.5)
            .order_by("-at")
            .values("price_usd")[:1]
        )
        for column, span in CHANGE_SPANS.items()
    }
    # Prefixed, because the model has columns with these names.
    named = {f"earlier_{column}": subquery for column, subquery in at_span.items()}
    rows = Market.objects.filter(pk__in=token_ids).annotate(**named).values_list("pk", *named)
    return {pk: dict(zip(CHANGE_SPANS, prices, strict=True)) for pk, *prices in rows}


def percent_change(price: float, earlier: float | None) -> float | None:
    """Return the change in percentage points; None if it is unknown or out of range."""
    if not earlier:
        return None
    percent = (price / earlier - 1) * 100
    return percent if PERCENT.lowest <= percent < PERCENT.highest else None


def prune_price_history() -> int:
    """Delete points older than MARKET_HISTORY_DAYS in batches; return their number."""
    cutoff = timezone.now() - timedelta(days=settings.MARKET_HISTORY_DAYS)
    pruned = 0
    while True:
        # Points are inserted in chronological sequence: the lowest ids are the oldest, which needs no index on time.
        oldest = MarketPoint.objects.order_by("pk").values("pk")[:_PRUNE_BATCH]
        deleted, _ = MarketPoint.objects.filter(pk__in=oldest, at__lt=cutoff).delete()
        pruned += deleted
        if deleted < _PRUNE_BATCH:
            return pruned
