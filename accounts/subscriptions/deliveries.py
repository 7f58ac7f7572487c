"""Event deliveries to webhook endpoints: created with the events' publication, replayed, tested and pruned."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import DeliveryReason, DeliveryStatus, WebhookDelivery, WebhookEndpoint
from accounts.subscriptions import endpoints
from config.events import outbox

TEST_TYPE = "webhook.test"
# Deliveries in one replay.
MAX_REPLAYED = 10_000
_PRUNED = 10_000

# An operator's endpoint gets all partners' events. No event waits twice for an endpoint: repeated replays add
# nothing to its queue.
_QUEUE = """
INSERT INTO accounts_webhookdelivery (endpoint_id, event_id, event_type, reason, status, created_at, due_at, log)
SELECT endpoint.id, event.id, event.type, %(reason)s, 'pending', %(now)s, %(now)s, '[]'
FROM events_event AS event JOIN accounts_webhookendpoint AS endpoint
    ON (endpoint.types = '{}' OR event.type = ANY(endpoint.types))
    AND (endpoint.chain_ids = '{}' OR event.chain_id IS NULL OR event.chain_id = ANY(endpoint.chain_ids))
    AND CASE event.audience
        WHEN 'public' THEN true
        WHEN 'partner' THEN endpoint.partner_key_id IS NULL OR event.owner_id = endpoint.partner_key_id
        WHEN 'operators' THEN endpoint.partner_key_id IS NULL
        ELSE false
    END
WHERE event.id BETWEEN %(first)s AND %(last)s AND endpoint.id = ANY(%(endpoint_ids)s)
    AND NOT EXISTS (
        SELECT FROM accounts_webhookdelivery AS queued
        WHERE queued.endpoint_id = endpoint.id AND queued.event_id = event.id AND queued.status = 'pending'
    )
ORDER BY event.id LIMIT %(most)s
RETURNING event_id
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replay:
    """Number of queued deliveries, and their last event's id if there may be more; else None."""

    queued: int
    cursor: int | None


def publish_and_queue() -> int:
    """Publish committed events, and queue their deliveries in the same transaction. Return how many were published.

    A killed process leaves both or neither, so that no endpoint misses an event.
    """
    with transaction.atomic():
        published = outbox.publish_events()
        if published:
            active = list(WebhookEndpoint.objects.active().values_list("pk", flat=True))
            _queue(published.start, published.stop - 1, active, DeliveryReason.EVENT)
    return len(published)


def replay_events(endpoint: WebhookEndpoint, *, first: int, last: int, most: int = MAX_REPLAYED) -> Replay:
    """Queue events in an id range again, if the endpoint may get them: at most `most`, without queued ones."""
    event_ids = _queue(first, last, [endpoint.pk], DeliveryReason.REPLAY, most=most)
    has_more = len(event_ids) == most
    return Replay(queued=len(event_ids), cursor=max(event_ids) if has_more else None)


def queue_test(endpoint: WebhookEndpoint) -> WebhookDelivery:
    """Queue a test delivery, which has one attempt. It ends a pause, so that an owner sees what a repair did."""
    endpoints.end_pause(endpoint)
    return WebhookDelivery.objects.create(endpoint=endpoint, event_type=TEST_TYPE, reason=DeliveryReason.TEST)


def cancel_withdrawn() -> int:
    """Cancel queued deliveries if the endpoint's key is revoked, expired or lacks the scope; return how many."""
    withdrawn = WebhookEndpoint.objects.exclude(pk__in=WebhookEndpoint.objects.active().values("pk"))
    return WebhookDelivery.objects.filter(endpoint__in=withdrawn).cancel_queued("the key of the endpoint is not valid")


def prune_deliveries(now: datetime) -> int:
    """Delete deliveries past EVENT_DAYS; return how many. Queued ones stay."""
    old = WebhookDelivery.objects.exclude(status=DeliveryStatus.PENDING)
    # Ids rise with time: the oldest rows are the first in the primary key.
    oldest = old.order_by("pk").values("pk")[:_PRUNED]
    expired = old.filter(pk__in=oldest, created_at__lt=now - timedelta(days=settings.EVENT_DAYS))
    return expired.delete()[0]


def _queue(
    first: int, last: int, endpoint_ids: Collection[int], reason: DeliveryReason, *, most: int | None = None
) -> list[int]:
    """Queue events for endpoints by their filters; return each delivery's event id."""
    if not endpoint_ids:
        return []
    parameters: dict[str, Any] = {
        "first": first,
        "last": last,
        "endpoint_ids": list(endpoint_ids),
        "reason": reason,
        "now": timezone.now(),
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(_QUEUE, parameters)
        return [event_id for (event_id,) in cursor.fetchall()]
