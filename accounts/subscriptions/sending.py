"""One attempt to deliver an event to a webhook endpoint. Uses no database."""

import time
from dataclasses import dataclass

import orjson
from django.conf import settings
from django.utils import timezone

from accounts.models import WebhookDelivery, WebhookEndpoint
from accounts.subscriptions.responses import DeliveryAttempt
from accounts.subscriptions.webhook_secrets import signed_headers
from config.events.event_types import EventBody, event_body
from config.events.models import Event
from config.http.errors import PermanentError, RetryableError
from config.http.json_client import parse_retry_after
from config.http.public_client import post_public_url
from config.parsing.timestamps import format_timestamp

# A response body is not used: it is read to let its sender finish.
_MAX_RESPONSE_BYTES = 16 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """An attempt's outcome."""

    # None without a response.
    status: int | None
    milliseconds: int
    # Bytes read from the response's body.
    size: int = 0
    # Empty after a success.
    error: str = ""
    # Seconds; None if the response requests no delay.
    retry_after: float | None = None

    @property
    def succeeded(self) -> bool:
        """Return whether the endpoint accepted the event: a redirect is a failure."""
        return self.status is not None and 200 <= self.status < 300

    def log_entry(self) -> DeliveryAttempt:
        """Return the attempt for the delivery log, without any response content."""
        return {
            "at": format_timestamp(timezone.now()),
            "status": self.status,
            "ms": self.milliseconds,
            "bytes": self.size,
            "error": self.error,
        }


def send_delivery(endpoint: WebhookEndpoint, delivery: WebhookDelivery, event: Event | None) -> Attempt:
    """Send an event, or a test, to an endpoint once. Raises nothing for what the endpoint does."""
    body = orjson.dumps(_test_body(delivery) if event is None else event_body(event, event_id=event.pk))
    headers = signed_headers(endpoint, message_id=message_id(delivery), body=body, now=timezone.now())
    begun = time.monotonic()
    try:
        response = post_public_url(
            endpoint.url,
            body,
            headers={"Content-Type": "application/json", **headers},
            timeout=settings.WEBHOOK_TIMEOUT_SECONDS,
            max_bytes=_MAX_RESPONSE_BYTES,
            allowed=settings.WEBHOOK_ALLOWED_NETWORKS,
        )
    except (RetryableError, PermanentError) as error:
        return Attempt(status=None, milliseconds=_since(begun), error=str(error))
    is_accepted = 200 <= response.status < 300
    return Attempt(
        status=response.status,
        milliseconds=_since(begun),
        size=len(response.content),
        error="" if is_accepted else f"HTTP status {response.status}",
        retry_after=None if is_accepted else parse_retry_after(response.retry_after),
    )


def message_id(delivery: WebhookDelivery) -> str:
    """Return the id in the header `webhook-id`, the same for each attempt."""
    return f"test_{delivery.pk}" if delivery.event_id is None else f"evt_{delivery.event_id}"


def _test_body(delivery: WebhookDelivery) -> EventBody:
    return {
        "id": 0,
        "type": delivery.event_type,
        "version": 1,
        "createdAt": format_timestamp(delivery.created_at),
        "chainId": None,
        "subject": str(delivery.endpoint_id),
        "data": {"message": "This is a test of your webhook endpoint."},
    }


def _since(begun: float) -> int:
    return round(1000 * (time.monotonic() - begun))
