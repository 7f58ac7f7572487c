"""Model for off-chain documents that describe tokens."""

from django.db import models
from django.db.models import Q

from config.postgresql.leased_queue import Leased, LeasedQuerySet
from tokens.models.token import Token


class DocumentStatus(models.TextChoices):
    """Document states."""

    # To be fetched at `due_at`.
    PENDING = "pending"
    FETCHED = "fetched"
    # Given up for the reason in `last_error`; an operator can have it fetched again.
    FAILED = "failed"


class TokenDocument(Leased):
    """The JSON document at the URI that a token's launch names, and its content after a fetch."""

    QUEUE = "documents"
    QUEUED = Q(status="pending")
    GIVEN_UP = {"status": "failed"}
    ENABLED_BY = ("FETCH_DOCUMENTS",)

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="document")
    uri = models.TextField()
    status = models.CharField(max_length=8, choices=DocumentStatus, default=DocumentStatus.PENDING)
    # The part that is used, keyed by `Token`'s columns and its metadata's keys; empty before the fetch.
    content = models.JSONField(default=dict)
    fetched_at = models.DateTimeField(null=True, blank=True)

    objects = LeasedQuerySet["TokenDocument"].as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["pending", "fetched", "failed"]), name="token_document_status_known"
            )
        ]
        # Due fetches, oldest first.
        indexes = [models.Index(fields=["due_at"], name="token_document_due", condition=Q(status="pending"))]

    def __str__(self) -> str:
        return f"document of token {self.pk}: {self.status}"
