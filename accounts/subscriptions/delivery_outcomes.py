"""Attempt outcomes: the next attempt by the schedule, and the endpoint's state."""

import logging
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from accounts.models import DeliveryReason, DeliveryStatus, DisabledBy, WebhookDelivery, WebhookEndpoint
from accounts.subscriptions.endpoints import disable_endpoint, record_failure, record_success
from accounts.subscriptions.sending import Attempt

logger = logging.getLogger(__name__)

_GONE = 410
# The endpoint, or the gateway in front of it, is overloaded or down: all its deliveries wait.
_PAUSING = (429, 502, 503, 504)
_DEFAULT_PAUSE_SECONDS = 10.0
# A longer Retry-After delays its delivery, but no other one for longer than this.
_MAX_PAUSE_SECONDS = 3600.0


def store_attempt(delivery: WebhookDelivery, endpoint: WebhookEndpoint, attempt: Attempt) -> None:
    """Store a claimed delivery's outcome; nothing if its lease was taken over."""
    row = WebhookDelivery.objects.held([delivery])
    log = [*delivery.log, attempt.log_entry()]
    if attempt.succeeded:
        row.finish(status=DeliveryStatus.DELIVERED, log=log)
        record_success(endpoint)
        return
    delay = _next_delay(delivery, attempt)
    if delay is None or attempt.status == _GONE:
        row.finish(status=DeliveryStatus.FAILED, log=log, last_error=attempt.error)
    else:
        row.fail(attempt.error, due_at=timezone.now() + timedelta(seconds=delay), log=log)
    if delivery.reason == DeliveryReason.TEST:
        # Anyone with the key can cause it any number of times.
        return
    if attempt.status == _GONE:
        disable_endpoint(endpoint, "it responded with HTTP status 410", by=DisabledBy.SERVICE, notice=True)
    else:
        record_failure(endpoint, pause=_pause(attempt))


def store_missing_event(delivery: WebhookDelivery) -> None:
    """End a delivery without a stored event."""
    WebhookDelivery.objects.held([delivery]).finish(
        status=DeliveryStatus.FAILED, last_error="the event is past its retention"
    )


def _next_delay(delivery: WebhookDelivery, attempt: Attempt) -> float | None:
    """Return the seconds until the next attempt; None after the last one."""
    attempts = delivery.attempts + 1
    if delivery.reason == DeliveryReason.TEST or attempts >= len(settings.WEBHOOK_SCHEDULE_SECONDS):
        return None
    return max(settings.WEBHOOK_SCHEDULE_SECONDS[attempts], attempt.retry_after or 0.0)


def _pause(attempt: Attempt) -> timedelta | None:
    if attempt.retry_after is None and attempt.status not in _PAUSING:
        return None
    seconds = _DEFAULT_PAUSE_SECONDS if attempt.retry_after is None else attempt.retry_after
    return timedelta(seconds=min(seconds, _MAX_PAUSE_SECONDS))
