"""Webhook endpoints of partners and operators, and the deliveries of events to them."""

import secrets
from datetime import timedelta
from typing import ClassVar, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models.partner_keys import PartnerKey, Scope
from config.parsing.json_rules import MAX_URL
from config.postgresql.leased_queue import Leased, LeasedQuerySet

MAX_DESCRIPTION = 200


def new_salt() -> bytes:
    """Return the random part of a signing secret."""
    return secrets.token_bytes(32)


def _no_list() -> list[str]:
    return []


def _no_ids() -> list[int]:
    return []


class DisabledBy(models.TextChoices):
    """Who disabled an endpoint."""

    OWNER = "owner"
    # Only operators can enable it again.
    OPERATOR = "operator"
    # After nothing but failures for days, or HTTP status 410.
    SERVICE = "service"


_BY_HAND = (DisabledBy.OWNER, DisabledBy.OPERATOR)


class EndpointState(models.TextChoices):
    """States of an endpoint, as shown to operators."""

    ENABLED = "enabled"
    # Enabled; each attempt since `failing_since` failed.
    FAILING = "failing"
    # By the service: nothing but failures for days, or HTTP status 410.
    DISABLED = "disabled"
    # By its owner or an operator.
    OFF = "off", "turned off"


class WebhookEndpointQuerySet(models.QuerySet["WebhookEndpoint"]):
    def in_state(self, state: EndpointState) -> Self:
        """Return the endpoints that are in this state."""
        if state in (EndpointState.ENABLED, EndpointState.FAILING):
            return self.filter(disabled_at__isnull=True, failing_since__isnull=state == EndpointState.ENABLED)
        by_hand = Q(disabled_by__in=_BY_HAND)
        return self.filter(by_hand if state == EndpointState.OFF else ~by_hand, disabled_at__isnull=False)

    def active(self) -> Self:
        """Return operators' enabled endpoints, and those whose partner key is active and has the scope."""
        now = timezone.now()
        allowed = Q(
            Q(partner_key__expires_at__isnull=True) | Q(partner_key__expires_at__gt=now),
            partner_key__revoked_at__isnull=True,
            partner_key__scopes__contains=[Scope.WEBHOOKS],
        )
        return self.filter(Q(partner_key__isnull=True) | allowed, disabled_at__isnull=True)


class WebhookEndpoint(models.Model):
    """A URL that gets events by POST, with its filters and signing secrets."""

    # None for an operator's endpoint, which gets all partners' events.
    partner_key = models.ForeignKey(
        PartnerKey, on_delete=models.CASCADE, null=True, blank=True, related_name="webhook_endpoints"
    )
    url = models.TextField(max_length=MAX_URL)
    description = models.CharField(max_length=MAX_DESCRIPTION, blank=True)
    # Empty for all types, and for all chains.
    types = ArrayField(models.CharField(max_length=32), default=_no_list, blank=True)
    chain_ids = ArrayField(models.BigIntegerField(), default=_no_ids, blank=True)
    email = models.EmailField(
        blank=True, help_text="Gets a mail before and after the endpoint is disabled for failures."
    )
    # Random parts of the current secret, and of the previous one until it expires. No secret is stored.
    salt = models.BinaryField(default=new_salt)
    previous_salt = models.BinaryField(null=True)
    previous_expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    disabled_at = models.DateTimeField(null=True, blank=True)
    # Empty while it is enabled.
    disabled_by = models.CharField(max_length=8, choices=DisabledBy, blank=True, default="", db_default="")
    disabled_reason = models.TextField(blank=True)
    # Time of the first failed attempt since the last success.
    failing_since = models.DateTimeField(null=True, blank=True)
    # When its owner was notified of these failures.
    warned_at = models.DateTimeField(null=True, blank=True)
    # No attempt begins before: the endpoint requested a delay, or its gateway is down.
    paused_until = models.DateTimeField(null=True, blank=True)

    objects = WebhookEndpointQuerySet.as_manager()

    class Meta:
        # No other index: an installation has hundreds at most.
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                name="webhook_endpoint_disabled_by_known",
                condition=Q(disabled_by__in=["", "owner", "operator", "service"]),
            ),
        ]

    def __str__(self) -> str:
        return self.url

    @property
    def state(self) -> EndpointState:
        """Return its state as last read."""
        if self.disabled_at is None:
            return EndpointState.ENABLED if self.failing_since is None else EndpointState.FAILING
        return EndpointState.OFF if self.disabled_by in _BY_HAND else EndpointState.DISABLED


class DeliveryStatus(models.TextChoices):
    """States of a delivery."""

    PENDING = "pending"
    DELIVERED = "delivered"
    # All attempts failed, or the event is no longer stored.
    FAILED = "failed"
    # The endpoint was disabled.
    CANCELLED = "cancelled"


class DeliveryReason(models.TextChoices):
    """Reasons of a delivery."""

    EVENT = "event"
    REPLAY = "replay"
    TEST = "test"


class WebhookDeliveryQuerySet(LeasedQuerySet["WebhookDelivery"]):
    def cancel_queued(self, reason: str) -> int:
        """Cancel what is queued; return how many."""
        return self.queued().update(status=DeliveryStatus.CANCELLED, leased_until=None, last_error=reason)


class WebhookDelivery(Leased):
    """An event to be sent to an endpoint. A test delivery has no event."""

    QUEUE = "webhooks"
    QUEUED = Q(status="pending")
    # Whatever kills a process many times, it is not the delivery: none is given up for it.
    UNFINISHED_DELAY: ClassVar = timedelta(minutes=1)

    endpoint = models.ForeignKey(WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    # The event's row is dropped after its retention.
    event_id = models.BigIntegerField(null=True)
    event_type = models.CharField(max_length=32)
    reason = models.CharField(max_length=8, choices=DeliveryReason)
    status = models.CharField(max_length=16, choices=DeliveryStatus, default=DeliveryStatus.PENDING)
    created_at = models.DateTimeField(default=timezone.now)
    # Attempts in their sequence: {at, status, ms, bytes, error}. Bodies of responses are never stored: they would be a
    # way to read private services.
    log = models.JSONField(default=list)

    objects = WebhookDeliveryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "webhook deliveries"
        constraints = [
            models.CheckConstraint(
                name="webhook_delivery_status_known",
                condition=Q(status__in=["pending", "delivered", "failed", "cancelled"]),
            ),
        ]
        indexes = [
            # An endpoint's queue, and the whole queue's age.
            models.Index(fields=["endpoint", "due_at"], name="webhook_delivery_due", condition=Q(status="pending")),
            models.Index(fields=["due_at"], name="webhook_queue_due", condition=Q(status="pending")),
            # The delivery log, newest first.
            models.Index(fields=["endpoint", "-id"], name="webhook_delivery_newest"),
            models.Index(fields=["endpoint", "status", "-id"], name="webhook_delivery_newest_by"),
            # Replays of an event or a range.
            models.Index(fields=["endpoint", "event_id"], name="webhook_delivery_by_event"),
            # The operators' list, filtered by what is rare in it: without these, a page could read all rows.
            models.Index(
                fields=["status", "-id"],
                name="webhook_delivery_by_status",
                condition=Q(status__in=["failed", "cancelled"]),
            ),
            models.Index(
                fields=["reason", "-id"], name="webhook_delivery_by_reason", condition=Q(reason__in=["replay", "test"])
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} {self.event_id or ''} to endpoint {self.endpoint_id}"
