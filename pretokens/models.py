"""Pretokens: token configurations that wait for a launch."""

import uuid
from collections.abc import Collection
from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import Person
from tokens.models import Deployment

MAX_KEYWORD = 100
MAX_KEYWORD_KEY = 300


class PretokenState(models.TextChoices):
    """Pretoken state. After `expires_at` a pending one counts as expired, even before its row is updated."""

    PENDING = "pending"
    EXPIRED = "expired"
    # By its owner; an operator may restore it before its expiry.
    DELETED = "deleted"
    DEPLOYED = "deployed"


class PretokenQuerySet(models.QuerySet["Pretoken"]):
    """Queries by owner and state."""

    def owned_by(self, person_ids: Collection[int]) -> Self:
        """Return a user's pretokens; `person_ids` as in CallingUser."""
        return self.filter(owner__in=person_ids)

    def pending(self) -> Self:
        """Return the pretokens that can be launched now; an overdue one is excluded even before its row is updated."""
        return self.filter(state="pending", expires_at__gt=timezone.now())

    def overdue(self) -> Self:
        """Return the pending rows past their expiry."""
        return self.filter(state="pending", expires_at__lte=timezone.now())

    def past_keeping(self, cutoff: datetime) -> Self:
        """Return the ended rows with an expiry up to `cutoff`, except deployed rows without a body."""
        return self.filter(state__in=["expired", "deleted", "deployed"], size__gt=0, expires_at__lte=cutoff)

    def newest_first(self) -> Self:
        """Sort by creation time, newest first."""
        return self.order_by("-created_at", "-id")


class Pretoken(models.Model):
    """Token configuration that its owner stores under a keyword for some days."""

    # Random: consecutive numbers would reveal how many pretokens others create.
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="pretokens", db_index=False)
    keyword = models.CharField(max_length=MAX_KEYWORD)
    # Comparison key: `normalize_keyword` in body.py.
    keyword_key = models.CharField(max_length=MAX_KEYWORD_KEY)
    chain_id = models.BigIntegerField()
    # The body without null keys; an empty object after pruning.
    body = models.JSONField()
    # Bytes as JSON; 0 after pruning.
    size = models.PositiveIntegerField()
    state = models.CharField(max_length=16, choices=PretokenState, default=PretokenState.PENDING)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True)
    # The deployment it was converted into.
    deployment = models.OneToOneField(
        Deployment, on_delete=models.PROTECT, null=True, blank=True, related_name="pretoken"
    )

    objects = PretokenQuerySet.as_manager()

    class Meta:
        constraints = [
            # Its index serves an owner's list, and the count of pending rows, which are few.
            models.UniqueConstraint(
                name="pretoken_keyword_once_pending", fields=["owner", "keyword_key"], condition=Q(state="pending")
            ),
            models.CheckConstraint(
                name="pretoken_state_known", condition=Q(state__in=["pending", "expired", "deleted", "deployed"])
            ),
            models.CheckConstraint(
                name="pretoken_deployed_as_something",
                condition=Q(state="deployed", deployment__isnull=False)
                | (~Q(state="deployed") & Q(deployment__isnull=True)),
            ),
            models.CheckConstraint(
                name="pretoken_deleted_at_some_time",
                condition=Q(state="deleted", deleted_at__isnull=False)
                | (~Q(state="deleted") & Q(deleted_at__isnull=True)),
            ),
            models.CheckConstraint(name="pretoken_lasts", condition=Q(expires_at__gt=F("created_at"))),
            models.CheckConstraint(name="pretoken_keyword_not_blank", condition=Q(keyword_key__regex=r"\S")),
        ]
        indexes = [
            # Serves expiry.
            models.Index(fields=["expires_at"], name="pretoken_expiring", condition=Q(state="pending")),
            # Serve the operators' list, one user's list and byte sum, and the keyword search.
            models.Index(fields=["-created_at", "-id"], name="pretoken_newest"),
            models.Index(fields=["owner", "-created_at"], include=["size"], name="pretoken_of_owner"),
            # Serves pruning; a deployed row with size 0 has lost its body.
            models.Index(
                fields=["expires_at"],
                name="pretoken_ended",
                condition=Q(state__in=["expired", "deleted", "deployed"], size__gt=0),
            ),
            models.Index(fields=["keyword_key"], name="pretoken_keyword"),
        ]

    def __str__(self) -> str:
        return f"{self.keyword}: {self.state}"
