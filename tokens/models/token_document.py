"""The documents outside of the chain that describe tokens."""

from django.db import models
from django.db.models import Q

from tokens.models.token import Token


class TokenDocument(models.Model):
    """The JSON document that a token's launch names by a URI, and what it says, once it was fetched."""

    class Status(models.TextChoices):
        # To be fetched at `due_at`.
        PENDING = "pending"
        FETCHED = "fetched"
        # Given up; `last_error` says why, and an operator can have it fetched again.
        FAILED = "failed"

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="document")
    uri = models.TextField()
    status = models.CharField(max_length=8, choices=Status, default=Status.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField()
    last_error = models.TextField(blank=True)
    # What of it is used, by the names of `Token`'s columns and its metadata's keys; empty until it is there.
    content = models.JSONField(default=dict)
    fetched_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["pending", "fetched", "failed"]), name="token_document_status_known"
            )
        ]
        # What is to be fetched, oldest first.
        indexes = [models.Index(fields=["due_at"], name="token_document_due", condition=Q(status="pending"))]

    def __str__(self) -> str:
        return f"document of token {self.pk}: {self.status}"
