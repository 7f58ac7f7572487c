"""Pruning for replaced rankings, and for facts that are too old for any ranking."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import Exists, Model, OuterRef, QuerySet
from django.utils import timezone

from leaderboard.models import Action, Interaction, Run, Snapshot, SocialScore, Trade

# Clients may page through a replaced ranking for this time.
_PAGING = timedelta(minutes=30)
# Facts per transaction, and transactions per table and call; the task runs every hour.
_FACTS_AT_ONCE = 10_000
_ROUNDS = 100
# The most rankings that can be built in the five minutes between two calls: one per interval every 15 seconds.
_SNAPSHOTS_AT_ONCE = 60

# Each table with the column that assigns its facts to an interval.
_FACTS: tuple[tuple[type[Model], str], ...] = (
    (Interaction, "at"),
    (Action, "at"),
    (Run, "finished_at"),
    (Trade, "at"),
)


def prune_snapshots() -> int:
    """Delete a batch of rankings replaced more than 30 minutes ago; return their number."""
    cutoff = timezone.now() - _PAGING
    expired = Snapshot.objects.filter(is_current=False, replaced_at__lt=cutoff).order_by("pk")[:_SNAPSHOTS_AT_ONCE]
    for snapshot in expired:
        snapshot.delete()
    return len(expired)


def prune_facts() -> int:
    """Delete batches of facts older than LEADERBOARD_FACT_DAYS; return their number.

    Each account's last social score before that is kept: it is valid until the next one.
    """
    cutoff = timezone.now() - timedelta(days=settings.LEADERBOARD_FACT_DAYS)
    pruned = 0
    for model, column in _FACTS:
        pruned += _delete(partial(_oldest_facts, model, column, cutoff))
    return pruned + _delete(partial(_superseded_scores, cutoff))


def _delete(select: Callable[[], QuerySet[Any, Any]]) -> int:
    deleted = 0
    for _ in range(_ROUNDS):
        rows = select()
        # Rows deleted by cascade are not counted.
        _, counts = rows.model._default_manager.filter(pk__in=list(rows)).delete()
        count = counts.get(rows.model._meta.label, 0)
        deleted += count
        if count < _FACTS_AT_ONCE:
            break
    return deleted


def _oldest_facts(model: type[Model], column: str, cutoff: datetime) -> QuerySet[Any, Any]:
    older = model._default_manager.filter(**{f"{column}__lt": cutoff})
    return older.order_by(column).values_list("pk", flat=True)[:_FACTS_AT_ONCE]


def _superseded_scores(cutoff: datetime) -> QuerySet[Any, Any]:
    newer = SocialScore.objects.filter(fid=OuterRef("fid"), at__gt=OuterRef("at"), at__lte=cutoff)
    return SocialScore.objects.filter(Exists(newer), at__lte=cutoff).values_list("pk", flat=True)[:_FACTS_AT_ONCE]
