"""Pretokens: configurations of tokens that wait for somebody to have them launched."""

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import Person
from pretokens.querysets import PretokenQuerySet
from tokens.models import Deployment

MAX_KEYWORD = 100


class State(models.TextChoices):
    """What has become of a pretoken. Past `expires_at` a pending one counts as expired, whatever its row says yet."""

    PENDING = "pending"
    EXPIRED = "expired"
    # By its owner; an operator may restore it while its time lasts.
    DELETED = "deleted"
    DEPLOYED = "deployed"


class Pretoken(models.Model):
    """A configuration that its owner keeps under a keyword, for a while."""

    # Random: numbers in a row would tell an owner how many others have made meanwhile.
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(Person, on_delete=models.PROTECT, related_name="pretokens", db_index=False)
    keyword = models.CharField(max_length=MAX_KEYWORD)
    # The keyword without case and without blanks at its ends, by which it is told from others; folding case makes up
    # to three characters of one.
    keyword_key = models.CharField(max_length=3 * MAX_KEYWORD)
    chain_id = models.BigIntegerField()
    # As it came, without keys that were null; an empty object once it is past keeping.
    body = models.JSONField()
    # How many bytes that is as JSON, and 0 then.
    size = models.PositiveIntegerField()
    state = models.CharField(max_length=16, choices=State, default=State.PENDING)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True)
    # What it was turned into.
    deployment = models.OneToOneField(
        Deployment, on_delete=models.PROTECT, null=True, blank=True, related_name="pretoken"
    )

    objects = PretokenQuerySet.as_manager()

    class Meta:
        constraints = [
            # Its index serves an owner's list, and the count of what is pending, of which there is little.
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
            # What is to expire.
            models.Index(fields=["expires_at"], name="pretoken_expiring", condition=Q(state="pending")),
            # The operators' list of all; that of one user, and how many bytes of his lie there; and those of a keyword,
            # whoever has it.
            models.Index(fields=["-created_at", "-id"], name="pretoken_newest"),
            models.Index(fields=["owner", "-created_at"], include=["size"], name="pretoken_of_owner"),
            # What is past keeping; a deployed one of size 0 has lost its body.
            models.Index(
                fields=["expires_at"],
                name="pretoken_ended",
                condition=Q(state__in=["expired", "deleted", "deployed"], size__gt=0),
            ),
            models.Index(fields=["keyword_key"], name="pretoken_keyword"),
        ]

    def __str__(self) -> str:
        return f"{self.keyword}: {self.state}"
