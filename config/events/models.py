"""Event models: as the writing transaction stores them, and as subscribers read them."""

from datetime import timedelta
from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

# Events of EventAudience.STREAM with one type and chain are published as one within this time.
STREAM_ONLY_INTERVAL = timedelta(seconds=5)


class EventAudience(models.TextChoices):
    """Readers of an event."""

    PUBLIC = "public", "all subscribers"
    # The partner key of `owner_id`, and operators.
    PARTNER = "partner"
    OPERATORS = "operators"
    # Clients of the stream that name the type: no list or webhook has the event.
    STREAM = "stream", "clients of the stream"


class EventFields(models.Model):
    """Columns of an event."""

    type = models.CharField(max_length=32)
    version = models.SmallIntegerField()
    chain_id = models.BigIntegerField(null=True)
    # What the event is about, such as a contract address or a request key.
    subject = models.TextField()
    audience = models.CharField(
        max_length=9, choices=EventAudience, default=EventAudience.PUBLIC, db_default=EventAudience.PUBLIC.value
    )
    # Id of the partner key of EventAudience.PARTNER. The former version reads 0 and -1 here for operators and the
    # stream: the triggers in event_audience.sql keep both columns in step.
    owner_id = models.BigIntegerField(null=True)
    # The type's schema describes it.
    data = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        abstract = True


class OutboxQuerySet(models.QuerySet["OutboxEvent"]):
    def due(self) -> Self:
        """Return the events to publish. Stream events are due once they are as old as STREAM_ONLY_INTERVAL."""
        return self.exclude(audience=EventAudience.STREAM, created_at__gt=Now() - STREAM_ONLY_INTERVAL)


class OutboxEvent(EventFields):
    """An event that is not numbered yet, as the transaction that made the change stored it.

    Triggers on the changed tables insert the rows, so that no writer can forget them.
    """

    # Transactions end in another sequence than they reserve ids: these ids only sort one subject's events.
    id = models.BigAutoField(primary_key=True)

    objects = OutboxQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="outbox_event_audience_known",
                condition=Q(audience="partner", owner_id__isnull=False, owner_id__gt=0)
                | Q(Q(owner_id__isnull=True) | Q(owner_id__lte=0), audience__in=["public", "operators", "stream"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} of {self.subject}"


class EventQuerySet(models.QuerySet["Event"]):
    def readable_by(self, partner_key_id: int) -> Self:
        """Return the public events and a partner's events."""
        return self.filter(
            Q(audience=EventAudience.PUBLIC) | Q(audience=EventAudience.PARTNER, owner_id=partner_key_id)
        )


class Event(EventFields):
    """A numbered event. The table is partitioned by week of `published_at`, and rows never change."""

    # In publication sequence, with gaps: no event with a smaller id appears later.
    id = models.BigIntegerField(primary_key=True)
    published_at = models.DateTimeField()

    objects = EventQuerySet.as_manager()

    class Meta:
        indexes = [
            # GET /api/events with `type` or `chainId`.
            models.Index(fields=["type", "id"], name="event_by_type"),
            models.Index(fields=["chain_id", "id"], name="event_by_chain"),
        ]

    def __str__(self) -> str:
        return f"{self.id}: {self.type} of {self.subject}"
