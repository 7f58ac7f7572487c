"""What the leaderboard deletes: rankings that nobody walks through any more, and facts that no ranking counts."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import Exists, Model, OuterRef, QuerySet
from django.utils import timezone

from leaderboard.models import Action, Interaction, Run, Snapshot, SocialScore, Trade

# A transaction deletes so many facts; a call, one an hour, so many of each table, and the next one goes on.
_FACTS_AT_ONCE = 10_000
_ROUNDS = 100
# As many as can be made in the five minutes between two calls: one of each interval every 15 seconds.
_SNAPSHOTS_AT_ONCE = 60

# With the column by which facts belong to an interval.
_FACTS: tuple[tuple[type[Model], str], ...] = (
    (Interaction, "at"),
    (Action, "at"),
    (Run, "finished_at"),
    (Trade, "at"),
)


def prune_snapshots() -> int:
    """Delete rankings, some at a time, that another one replaced LEADERBOARD_SNAPSHOT_MINUTES ago; returns how many."""
    cutoff = timezone.now() - timedelta(minutes=settings.LEADERBOARD_SNAPSHOT_MINUTES)
    over = Snapshot.objects.filter(is_current=False, replaced_at__lt=cutoff).order_by("pk")[:_SNAPSHOTS_AT_ONCE]
    for snapshot in over:
        snapshot.delete()
    return len(over)


def prune_facts() -> int:
    """Delete facts, some at a time, that are older than LEADERBOARD_FACT_DAYS; returns how many.

    Of what an account's score was found to be, the last before that stays: it holds until the next one.
    """
    cutoff = timezone.now() - timedelta(days=settings.LEADERBOARD_FACT_DAYS)
    pruned = 0
    for model, column in _FACTS:
        pruned += _delete(partial(_oldest, model, column, cutoff))
    return pruned + _delete(partial(_superseded_scores, cutoff))


def _delete(select: Callable[[], QuerySet[Any, Any]]) -> int:
    deleted = 0
    for _ in range(_ROUNDS):
        rows = select()
        # Rows that hang on these go, too, and are not counted.
        _, counts = rows.model._default_manager.filter(pk__in=list(rows)).delete()
        count = counts.get(rows.model._meta.label, 0)
        deleted += count
        if count < _FACTS_AT_ONCE:
            break
    return deleted


def _oldest(model: type[Model], column: str, cutoff: datetime) -> QuerySet[Any, Any]:
    older = model._default_manager.filter(**{f"{column}__lt": cutoff})
    return older.order_by(column).values_list("pk", flat=True)[:_FACTS_AT_ONCE]


def _superseded_scores(cutoff: datetime) -> QuerySet[Any, Any]:
    newer = SocialScore.objects.filter(fid=OuterRef("fid"), at__gt=OuterRef("at"), at__lte=cutoff)
    return SocialScore.objects.filter(Exists(newer), at__lte=cutoff).values_list("pk", flat=True)[:_FACTS_AT_ONCE]
