"""Leased queue: rows that are due, claimed by one worker for a lease, and due again after it.

A model that inherits `Leased` is a queue. A worker claims due rows in one short transaction, works on them outside any
transaction, and stores each outcome through `held`: if another worker has claimed the row since, nothing is stored. A
killed worker's rows are due again when their lease ends.

| state     | row                                           | left by                                        |
|-----------|-----------------------------------------------|------------------------------------------------|
| waiting   | `due_at` is past                              | `claim`, `begin`                               |
| leased    | `leased_until` and `due_at` are in the future | an outcome, or the lease's end                 |
| due again | `due_at` is in the future, no lease           | time                                           |
| given up  | has the columns in `GIVEN_UP`                 | `requeue`, by an operator                      |

The outcomes are `release`, `requeue`, `fail` and `finish`.

Two versions of the service may run side by side during an upgrade. So only `due_at` decides who may claim a row, as
before `leased_until` was added.
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
    """States for a queue's rows, as shown to operators. Rows that left the queue with a result have none."""

    WAITING = "waiting"
    LEASED = "leased"
    DUE_AGAIN = "due again"
    GIVEN_UP = "given up"


@dataclass(frozen=True, kw_only=True)
class QueueSize:
    """Number of due rows, up to MAX_DEPTH per queue part, and the earliest due time; None if none is due."""

    depth: int
    since: datetime | None
    # Whether this installation has the queue processed.
    is_processed: bool = True

    def age_seconds(self, now: datetime) -> float:
        """Return how many seconds the oldest row has been due; 0 if none is, or if the queue is not processed."""
        return (now - self.since).total_seconds() if self.since and self.is_processed else 0.0


class LeasedQuerySet(models.QuerySet[_Row]):
    """Leased queue queries. The outcomes return the row count, which is 0 if a guarding filter no longer holds."""

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
        """Claim at most `count` due rows for one lease, and return them. Skip rows that another transaction has locked.

        The queue's parts are claimed in sequence; without `count`, the queryset is one part.
        """
        with transaction.atomic():
            rows = self._lock_due(now, count)
            claimed_rows = self._same(rows)
            claimed_rows.begin(now, lease=lease)
            rows = [row for row in rows if row.unfinished < MAX_UNFINISHED]
        for row in rows:
            row.due_at = row.leased_until = now + lease
        return rows

    def postpone_due(self, now: datetime, *, by: timedelta, count: int) -> list[_Row]:
        """Postpone due rows without a lease, and return them: for a queue whose workers are woken by messages."""
        with transaction.atomic():
            rows = self._lock_due(now, count)
            self._same(rows).update(due_at=now + by)
        return rows

    def begin(self, now: datetime, *, lease: timedelta) -> int:
        """Begin an attempt on these rows, due or not: lease them from now on. Return the number of leased rows.

        Rows whose worker ended MAX_UNFINISHED times without an outcome are given up, or due again after a delay.
        """
        end = now + lease
        leasable = self.queued().filter(unfinished__lt=MAX_UNFINISHED)
        count = leasable.update(due_at=end, leased_until=end, unfinished=F("unfinished") + 1)
        exhausted = self.queued().filter(unfinished__gte=MAX_UNFINISHED).exclude(leased_until=end)
        columns = self.model.GIVEN_UP or {"due_at": now + self.model.UNFINISHED_DELAY}
        if lost := exhausted.update(**columns, leased_until=None, unfinished=0, last_error=UNFINISHED):
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
        columns = {"leased_until": None, "unfinished": 0, "attempts": F("attempts") + 1, "last_error": ""}
        return self.update(**columns | changes)

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
        """Return the queue's depth and age, with one query for each part."""
        measurements = [
            self.filter(part_filter).due(now)[:MAX_DEPTH].aggregate(depth=Count("pk"), since=Min("due_at"))
            for part_filter in self.model.PARTS
        ]
        times = [measurement["since"] for measurement in measurements if measurement["since"]]
        switches = self.model.ENABLED_BY
        return QueueSize(
            depth=sum(measurement["depth"] for measurement in measurements),
            since=min(times, default=None),
            is_processed=not switches or any(getattr(settings, name) for name in switches),
        )

    def _lock_due(self, now: datetime, count: int | None) -> list[_Row]:
        due_rows: list[_Row] = []
        for part_filter in self.model.PARTS if count is not None else (Q(),):
            rows = self.filter(part_filter).due(now).select_for_update(skip_locked=True, of=("self",))
            due_rows += rows[: None if count is None else count - len(due_rows)]
            if len(due_rows) == count:
                break
        return due_rows

    def _same(self, rows: Sequence[_Row]) -> Self:
        """Return a queryset of these rows without joins and sort."""
        return cast(Self, self.model._default_manager.filter(pk__in=[row.pk for row in rows]))


def leased_queues() -> list[Any]:
    """Return the models that are queues: they have a `QUEUE` name."""
    return [model for model in apps.get_models() if hasattr(model, "QUEUE")]


def measure_queues(now: datetime) -> dict[str, QueueSize]:
    """Return depth and age by queue name."""
    return {model.QUEUE: model.objects.measure(now) for model in leased_queues()}


class Leased(models.Model):
    """The columns that all leased queues have; a model may map them to columns with earlier names."""

    # When the row is due next: at once, after a delay, or when its lease ends.
    due_at = models.DateTimeField(default=timezone.now, db_default=Now())
    # When the last lease ends, which fences its holder's outcome; None after an outcome.
    leased_until = models.DateTimeField(null=True, blank=True)
    # Attempts with an outcome since the row was queued or last succeeded.
    attempts = models.PositiveIntegerField(default=0, db_default=0)
    # Consecutive leases without an outcome: the worker was killed, or hit a bug.
    unfinished = models.IntegerField(default=0, db_default=0)
    # Reason of the last failure; empty after a success.
    last_error = models.TextField(blank=True, default="", db_default="")

    # The queue's name in metrics.
    QUEUE: ClassVar[str]
    # The rows in the queue; the partial index on due rows has the same condition.
    QUEUED: ClassVar[Q] = Q()
    # The columns that give a row up; empty if the queue never gives up.
    GIVEN_UP: ClassVar[Mapping[str, Any]] = {}
    # A queue that never gives up postpones a row by this after MAX_UNFINISHED leases without an outcome.
    UNFINISHED_DELAY: ClassVar[timedelta] = timedelta(days=1)
    # Disjoint parts, in the sequence of claims; each is one index range.
    PARTS: ClassVar[Sequence[Q]] = (Q(),)
    # Workers process the queue if one of these settings is set, or always if there are none.
    ENABLED_BY: ClassVar[Sequence[str]] = ()

    class Meta:
        abstract = True
