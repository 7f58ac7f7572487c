"""Webhook endpoint and delivery counts for metrics and the dashboard, in milliseconds for any number of rows."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.db.models import Count, Max, OuterRef, Q, Subquery

from accounts.models import DeliveryStatus, EndpointState, WebhookDelivery, WebhookEndpoint

# Only the deliveries with the newest ids are counted, up to this number.
MAX_COUNTED = 10_000
_HOUR = timedelta(hours=1)


class Outcome(StrEnum):
    """A delivery's outcome so far: its status, and whether a pending one has failed attempts."""

    DELIVERED = "delivered"
    # Not attempted yet.
    PENDING = "pending"
    # All attempts until now failed, and one is left.
    RETRYING = "retrying"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, kw_only=True, slots=True)
class DeliveryCounts:
    """Deliveries that were queued in the last hour, at most MAX_COUNTED, by event type and outcome."""

    by_type: Mapping[tuple[str, Outcome], int]

    def total(self, outcome: Outcome) -> int:
        """Return the number over all types."""
        return sum(number for (_, counted_outcome), number in self.by_type.items() if counted_outcome == outcome)


def count_endpoints() -> dict[EndpointState, int]:
    """Return state -> number of endpoints."""
    counts = Counter(endpoint.state for endpoint in WebhookEndpoint.objects.defer("salt", "previous_salt"))
    return {state: counts[state] for state in EndpointState}


def count_deliveries(now: datetime) -> DeliveryCounts:
    """Count the deliveries that were queued in the last hour."""
    # Two queries: without the id as a constant, PostgreSQL would plan to read a third of the table.
    newest: int = WebhookDelivery.objects.aggregate(newest=Max("pk"))["newest"] or 0
    recent = WebhookDelivery.objects.filter(pk__gt=newest - MAX_COUNTED, created_at__gt=now - _HOUR)
    failed_once = Q(status=DeliveryStatus.PENDING, attempts__gt=0)
    groups = recent.order_by().values_list("event_type", "status")
    number_by_type: Counter[tuple[str, Outcome]] = Counter()
    for event_type, status, number, retrying in groups.annotate(
        number=Count("pk"), retrying=Count("pk", filter=failed_once)
    ):
        number_by_type[event_type, Outcome(status)] += number - retrying
        number_by_type[event_type, Outcome.RETRYING] += retrying
    return DeliveryCounts(by_type=number_by_type)


def longest_wait(now: datetime) -> float:
    """Return for how many seconds the oldest due delivery has waited for a thread; 0 if none is due.

    Endpoints that fail, are paused or get no events are left out: their deliveries wait for the endpoint.
    """
    due = WebhookDelivery.objects.filter(endpoint=OuterRef("pk")).due(now)
    accepting = WebhookEndpoint.objects.active().filter(
        Q(paused_until__isnull=True) | Q(paused_until__lte=now), failing_since__isnull=True
    )
    times = accepting.annotate(due_since=Subquery(due.values("due_at")[:1])).values_list("due_since", flat=True)
    oldest = min((time for time in times if time is not None), default=now)
    return (now - oldest).total_seconds()
