"""Leased queue: rows that are due, claimed by one worker for a lease, and due again after it.

A model that inherits `Leased` is a queue. A worker claims due rows in one short transaction, works on them outside of
any transaction, and stores each outcome through `held`: if another worker has claimed the row since, nothing is stored.
The rows of a killed worker are due again when their lease ends.

| state     | row                                           | left by                                        |
|-----------|-----------------------------------------------|------------------------------------------------|
| waiting   | `due_at` is past                              | `claim`, `begin`                               |
| leased    | `leased_until` and `due_at` are in the future | an outcome, or the end of the lease            |
| due again | `due_at` is in the future, no lease           | time                                           |
| given up  | has the columns of `GIVEN_UP`                 | `requeue`, by an operator                      |

The outcomes are `release`, `requeue`, `fail` and `finish`.

Two versions of the service may run side by side during an upgrade, so only `due_at` decides who may claim a row, as it
did before `leased_until` was added.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, ClassVar, Self, TypeVar, cast

from django.apps import apps
from django.conf import settings
from django.db import models, transaction
from django.db.models import Count, F, Min, Q
from django.db.models.functions import Now
from django.utils import timezone

logger = logging.getLogger(__name__)

# A row is given up after this many leases in a row without an outcome: it may be what crashes workers.
MAX_UNFINISHED = 5
UNFINISHED = f"its worker ended {MAX_UNFINISHED} times without a result; see the log"
# Due rows are counted up to this number, so that a measurement takes milliseconds.
MAX_DEPTH = 10_000

_Row = TypeVar("_Row", bound="Leased")


class QueueState(StrEnum):
    """States of a queue's rows, as shown to operators. Rows that left the queue with a result have none."""

    WAITING = "waiting"
    LEASED = "leased"
    DUE_AGAIN = "due again"
    GIVEN_UP = "given up"


@dataclass(frozen=True, kw_only=True)
class QueueSize:
    """Number of due rows, up to MAX_DEPTH per part of the queue, and the earliest due time; None if none is due."""

    depth: int
    since: datetime | None
    # Whether this installation has the queue processed.
    is_processed: bool = True

    def age_seconds(self, now: datetime) -> float:
        """Return for how long the oldest row has been due; 0 if none is, or if the queue is not processed."""
        return (now - self.since).total_seconds() if self.since and self.is_processed else 0.0


class LeasedQuerySet(models.QuerySet[_Row]):
    """Queries of a leased queue. The outcomes return the row count, which is 0 if a guarding filter holds no longer."""

    def queued(self) -> Self:
        """Return the rows in the queue, due or not."""
        return self.filter(self.model.QUEUED)

    def due(self, now: datetime) -> Self:
        """Return the rows that may be claimed, the longest due first."""
        return self.queued().filter(due_at__lte=now).order_by("due_at")

    def held(self, rows: Iterable["Leased"]) -> Self:
        """Return claimed rows as far as no other worker has claimed them since."""
        leases = {row.pk: row.leased_until for row in rows}
        return self.filter(pk__in=leases, leased_until__in=set(leases.values()))

    def claim(self, now: datetime, *, lease: timedelta, count: int | None = None) -> list[_Row]:
        """Claim due rows that no other transaction has locked, at most `count`, for one lease, and return them.

        Parts of the queue are claimed in their sequence; without `count`, the queryset is one part.
        """
        with transaction.atomic():
            rows = self._lock_due(now, count)
            found = self._same(rows)
            found.begin(now, lease=lease)
            rows = [row for row in rows if row.unfinished < MAX_UNFINISHED]
        for row in rows:
            row.due_at = row.leased_until = now + lease
        return rows

    def postpone_due(self, now: datetime, *, by: timedelta, count: int) -> list[_Row]:
        """Postpone due rows without a lease, for a queue whose workers are woken by messages, and return the rows."""
        with transaction.atomic():
            rows = self._lock_due(now, count)
            self._same(rows).update(due_at=now + by)
        return rows

    def begin(self, now: datetime, *, lease: timedelta) -> int:
        """Begin an attempt on these rows, due or not: lease them from now on. Return how many are leased.

        Rows whose worker ended MAX_UNFINISHED times without an outcome are given up, or due again after a delay.
        """
        end = now + lease
        begun = self.queued().filter(unfinished__lt=MAX_UNFINISHED)
        count = begun.update(due_at=end, leased_until=end, unfinished=F("unfinished") + 1)
        ended = self.queued().filter(unfinished__gte=MAX_UNFINISHED).exclude(leased_until=end)
        then = self.model.GIVEN_UP or {"due_at": now + self.model.UNFINISHED_DELAY}
        if lost := ended.update(**then, leased_until=None, unfinished=0, last_error=UNFINISHED):
            logger.error("gave up on %s rows of the queue %s: %s", lost, self.model.QUEUE, UNFINISHED)
        return count

    def release(self, *, due_at: Any, **changes: Any) -> int:
        """End the lease without an outcome, as in an outage: no attempt counts."""
        return self.update(**{"due_at": due_at, "leased_until": None, "unfinished": 0} | changes)

    def requeue(self, *, due_at: Any, **changes: Any) -> int:
        """Queue rows anew, without attempts: after a success, or for an operator. Their holder stores nothing.

        Not named `defer`, which is Django's for columns.
        """
        return self.release(due_at=due_at, **{"attempts": 0, "last_error": ""} | changes)

    def fail(self, error: object, *, due_at: Any, **changes: Any) -> int:
        """Store a failed attempt that is to be repeated."""
        return self.release(due_at=due_at, attempts=F("attempts") + 1, last_error=str(error), **changes)

    def finish(self, **changes: Any) -> int:
        """Store an outcome that ends the schedule: `changes` name the state, and `last_error` if it is a failure."""
        ended = {"leased_until": None, "unfinished": 0, "attempts": F("attempts") + 1, "last_error": ""}
        return self.update(**ended | changes)

    def in_state(self, state: QueueState, now: datetime) -> Self:
        """Return the rows in a state."""
        ahead = self.queued().filter(due_at__gt=now)
        if state is QueueState.GIVEN_UP:
            return self.filter(**self.model.GIVEN_UP) if self.model.GIVEN_UP else self.none()
        if state is QueueState.WAITING:
            return self.queued().filter(due_at__lte=now)
        if state is QueueState.LEASED:
            return ahead.filter(leased_until__gt=now)
        return ahead.exclude(leased_until__gt=now)

    def measure(self, now: datetime) -> QueueSize:
        """Return depth and age of the queue, with one query for each part."""
        parts = [
            self.filter(part).due(now)[:MAX_DEPTH].aggregate(depth=Count("pk"), since=Min("due_at"))
            for part in self.model.PARTS
        ]
        times = [part["since"] for part in parts if part["since"]]
        switches = self.model.ENABLED_BY
        return QueueSize(
            depth=sum(part["depth"] for part in parts),
            since=min(times, default=None),
            is_processed=not switches or any(getattr(settings, name) for name in switches),
        )

    def _lock_due(self, now: datetime, count: int | None) -> list[_Row]:
        found: list[_Row] = []
        for part in self.model.PARTS if count is not None else (Q(),):
            rows = self.filter(part).due(now).select_for_update(skip_locked=True, of=("self",))
            found += rows[: None if count is None else count - len(found)]
            if len(found) == count:
                break
        return found

    def _same(self, rows: Sequence[_Row]) -> Self:
        """Return a queryset of these rows without joins and sort."""
        return cast(Self, self.model._default_manager.filter(pk__in=[row.pk for row in rows]))


def leased_queues() -> list[Any]:
    """Return the models that are queues: those with a `QUEUE` name."""
    return [model for model in apps.get_models() if hasattr(model, "QUEUE")]


def measure_queues(now: datetime) -> dict[str, QueueSize]:
    """Return depth and age of each queue, by its name."""
    return {model.QUEUE: model.objects.measure(now) for model in leased_queues()}


class Leased(models.Model):
    """Columns of a leased queue, the same in each; a model may map them to columns with earlier names."""

    # When the row is due next: at once, after a delay, or at the end of its lease.
    due_at = models.DateTimeField(default=timezone.now, db_default=Now())
    # End of the last lease, which fences its holder's outcome; None after an outcome.
    leased_until = models.DateTimeField(null=True, blank=True)
    # Attempts with an outcome since the row was queued or last succeeded.
    attempts = models.PositiveIntegerField(default=0, db_default=0)
    # Consecutive leases without an outcome: the worker was killed, or hit a bug.
    unfinished = models.IntegerField(default=0, db_default=0)
    # Reason of the last failure; empty after a success.
    last_error = models.TextField(blank=True, default="", db_default="")

    # Name of the queue in metrics.
    QUEUE: ClassVar[str]
    # The rows in the queue; its index of due rows is partial by the same condition.
    QUEUED: ClassVar[Q] = Q()
    # The columns of a row that is given up; empty if the queue never gives up.
    GIVEN_UP: ClassVar[Mapping[str, Any]] = {}
    # After so many leases without an outcome, a row of a queue that gives nothing up is due again after this.
    UNFINISHED_DELAY: ClassVar[timedelta] = timedelta(days=1)
    # Disjoint parts of the queue, in the sequence of claims; each is one range of an index.
    PARTS: ClassVar[Sequence[Q]] = (Q(),)
    # Settings of which one must be set for workers to process the queue; none if they always do.
    ENABLED_BY: ClassVar[Sequence[str]] = ()

    class Meta:
        abstract = True
