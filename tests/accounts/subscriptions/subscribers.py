"""Endpoints and events of webhook tests."""

from typing import Any

from accounts.models import WebhookDelivery, WebhookEndpoint
from accounts.subscriptions.deliveries import publish_and_queue
from accounts.subscriptions.webhook_secrets import endpoint_secret
from config.events.models import OutboxEvent
from tests.nodes.webhook_receiver import Receiver


def add_endpoint(receiver: Receiver, **fields: Any) -> WebhookEndpoint:
    """Create an endpoint for a receiver, which learns its secret."""
    endpoint = WebhookEndpoint.objects.create(url=f"{receiver.url}/hook", **fields)
    receiver.secret = endpoint_secret(endpoint)
    return endpoint


def store_event(event_type: str = "token.indexed", **fields: Any) -> OutboxEvent:
    """Store an event as a transaction's trigger does."""
    columns = {"version": 1, "chain_id": 8453, "subject": "0xabc", "data": {"name": "é"}}
    return OutboxEvent.objects.create(type=event_type, **columns | fields)


def queue_events(count: int = 1, **fields: Any) -> list[WebhookDelivery]:
    """Publish events, and return the deliveries that this queues."""
    before = set(WebhookDelivery.objects.values_list("pk", flat=True))
    for _ in range(count):
        store_event(**fields)
    publish_and_queue()
    return list(WebhookDelivery.objects.exclude(pk__in=before).order_by("pk"))
