"""Webhook endpoints: creation, changes, secret rotation, and their end after failures."""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import DisabledBy, PartnerKey, WebhookDelivery, WebhookEndpoint
from accounts.models.webhooks import new_salt
from accounts.subscriptions.endpoint_events import Notice
from accounts.subscriptions.notices import DAYS_UNTIL_DISABLED, store_notice
from config.http.errors import PermanentError
from config.http.public_client import AddressForbiddenError, may_be_allowed, parse_public_url
from config.parsing.json_rules import web_address

logger = logging.getLogger(__name__)

MAX_ENDPOINTS = 20
# Deliveries that are deleted at once.
_DELETED = 10_000
# During the overlap, both secrets sign.
ROTATION_OVERLAP = timedelta(hours=24)
ENDPOINT_URL = web_address("https", "http")
_PORTS = {"http": 80, "https": 443}
_URL_RULE = "must be an https:// URL of a public host, on port 443 and without credentials"


class TooManyEndpointsError(PermanentError):
    """The partner has MAX_ENDPOINTS endpoints."""


def check_endpoint_url(url: str) -> None:
    """Raise ValueError with the rule unless deliveries may be sent to this URL.

    Where WEBHOOK_ALLOWED_NETWORKS is set, receivers there may have http:// and any port. So may each name: it is
    resolved only at a delivery, which fails for a public address on another port than 80 and 443.
    """
    allowed = settings.WEBHOOK_ALLOWED_NETWORKS
    try:
        target = parse_public_url(ENDPOINT_URL.parse(url))
    except AddressForbiddenError as error:
        raise ValueError(_URL_RULE) from error
    is_https = target.scheme == "https" and target.port in (None, 443)
    if not may_be_allowed(target, allowed) or not (is_https or allowed):
        raise ValueError(_URL_RULE)


def create_endpoint(partner: PartnerKey | None, **fields: Any) -> WebhookEndpoint:
    """Create an endpoint, which gets events from now on. Raises TooManyEndpointsError."""
    with transaction.atomic():
        if partner is not None:
            # Concurrent creations for the same key are serialized.
            PartnerKey.objects.select_for_update().get(pk=partner.pk)
            if WebhookEndpoint.objects.filter(partner_key=partner).count() >= MAX_ENDPOINTS:
                raise TooManyEndpointsError(f"A key has at most {MAX_ENDPOINTS} endpoints")
        return WebhookEndpoint.objects.create(partner_key=partner, **fields)


def is_disabled_by_operator(partner: PartnerKey, url: str) -> bool:
    """Return whether an operator disabled one of this partner's endpoints with this host, port and path.

    Neither a deletion nor another query string brings it back.
    """
    disabled = WebhookEndpoint.objects.filter(partner_key=partner, disabled_by=DisabledBy.OPERATOR)
    return _place(url) in map(_place, disabled.values_list("url", flat=True))


def _place(url: str) -> tuple[str | None, int | None, str]:
    parts = urlsplit(url)
    return parts.hostname, parts.port or _PORTS.get(parts.scheme), parts.path.rstrip("/")


def rotate_secret(endpoint: WebhookEndpoint) -> datetime:
    """Give an endpoint a new secret, and return until when the one before signs, too."""
    expires_at = timezone.now() + ROTATION_OVERLAP
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(
        previous_salt=F("salt"), previous_expires_at=expires_at, salt=new_salt()
    )
    endpoint.refresh_from_db()
    return expires_at


def enable_endpoint(endpoint: WebhookEndpoint) -> None:
    """Enable an endpoint; it gets events from now on. A replay sends those that it missed."""
    times = dict.fromkeys(("disabled_at", "failing_since", "warned_at", "paused_until"))
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(disabled_by="", disabled_reason="", **times)
    endpoint.refresh_from_db()


def end_pause(endpoint: WebhookEndpoint) -> None:
    """Let deliveries to an endpoint go on at once, whatever delay it has requested."""
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(paused_until=None)


def delete_endpoint(endpoint: WebhookEndpoint) -> None:
    """Delete an endpoint with its deliveries, which can be millions."""
    disable_endpoint(endpoint, "deleted", by=DisabledBy.OWNER, notice=False)
    deliveries = WebhookDelivery.objects.filter(endpoint=endpoint)
    while deliveries.filter(pk__in=deliveries.order_by("pk").values("pk")[:_DELETED]).delete()[0] == _DELETED:
        # Short transactions.
        continue
    with transaction.atomic():
        # A publication that has read the endpoint before has ended, or fails at its commit and is repeated.
        WebhookEndpoint.objects.select_for_update().filter(pk=endpoint.pk).first()
        deliveries.delete()
        WebhookEndpoint.objects.filter(pk=endpoint.pk).delete()


def disable_endpoint(
    endpoint: WebhookEndpoint, reason: str, *, by: DisabledBy, notice: bool, failing_before: datetime | None = None
) -> bool:
    """Disable an endpoint and cancel what is queued for it; return False if it is disabled.

    `notice` notifies its owner; not for changes by the owner. `failing_before` leaves it if it has not failed for so
    long.
    """
    now = timezone.now()
    with transaction.atomic():
        enabled = WebhookEndpoint.objects.filter(pk=endpoint.pk, disabled_at__isnull=True)
        if failing_before is not None:
            enabled = enabled.filter(failing_since__lte=failing_before)
        if not enabled.update(disabled_at=now, disabled_by=by, disabled_reason=reason):
            return False
        WebhookDelivery.objects.filter(endpoint=endpoint).cancel_queued("the endpoint was disabled")
        endpoint.refresh_from_db()
        if notice:
            store_notice(Notice.DISABLED, endpoint)
    logger.log(logging.WARNING if notice else logging.INFO, "webhook endpoint %s is disabled: %s", endpoint.pk, reason)
    return True


def record_success(endpoint: WebhookEndpoint) -> None:
    """End an endpoint's failures."""
    if endpoint.failing_since or endpoint.paused_until:
        state = {"failing_since": None, "warned_at": None, "paused_until": None}
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(**state)


def record_failure(endpoint: WebhookEndpoint, *, pause: timedelta | None) -> None:
    """Record a failed attempt; after days of nothing but failures notify the owner, and then disable the endpoint."""
    now, rows = timezone.now(), WebhookEndpoint.objects.filter(pk=endpoint.pk)
    rows.filter(failing_since__isnull=True).update(failing_since=now)
    if pause is not None:
        rows.update(paused_until=now + pause)
    limit = timedelta(days=DAYS_UNTIL_DISABLED)
    reason = f"nothing but failures for {DAYS_UNTIL_DISABLED} days"
    if disable_endpoint(endpoint, reason, by=DisabledBy.SERVICE, notice=True, failing_before=now - limit):
        return
    with transaction.atomic():
        due = rows.filter(failing_since__lte=now - limit / 2, warned_at__isnull=True, disabled_at__isnull=True)
        if due.update(warned_at=now):
            endpoint.refresh_from_db()
            store_notice(Notice.FAILING, endpoint)


def filter_names(types: Iterable[str], chain_ids: Iterable[int]) -> str:
    """Return an endpoint's filters in words."""
    return f"{', '.join(types) or 'all types'}; {', '.join(map(str, chain_ids)) or 'all chains'}"
