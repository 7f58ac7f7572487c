"""Which transactions were asked about."""

from django.db import models
from django.db.models import Q

from tokens.models.querysets import IndexRequestQuerySet


class IndexRequest(models.Model):
    """One transaction that somebody asked us to index, and how far that came."""

    class Status(models.TextChoices):
        # To be read from the chain; `due_at` says when the sweeper enqueues it (again), a lease after its own message.
        PENDING = "pending"
        # Written; its block may still be dropped by a reorg.
        INDEXED = "indexed"
        # Written, and its block is deeper than the chain's finality.
        CONFIRMED = "confirmed"
        # Given up; `last_error` says why, and an operator can retry it.
        FAILED = "failed"
        # Was written, and the chain dropped it for good.
        ORPHANED = "orphaned"

    chain_id = models.BigIntegerField()
    tx_hash = models.CharField(max_length=100)
    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING)
    # Tries to which the chain had an answer; an outage of its nodes does not count.
    attempts = models.PositiveIntegerField(default=0)
    # Tries in a row that a worker began and nobody ended: it was killed, or ran into a mistake of ours.
    unfinished = models.PositiveIntegerField(default=0)
    last_error = models.TextField(blank=True)
    block_number = models.BigIntegerField(null=True, blank=True)
    block_hash = models.CharField(max_length=66, blank=True)
    due_at = models.DateTimeField()
    # Only visitors of pages have asked for it, of whom anybody may: that it fails alarms nobody.
    from_page = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = IndexRequestQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain_id", "tx_hash"], name="index_request_once"),
            models.CheckConstraint(
                condition=Q(status__in=["pending", "indexed", "confirmed", "failed", "orphaned"]),
                name="index_request_status_known",
            ),
        ]
        indexes = [
            # The sweeper: what is due, oldest first.
            models.Index(fields=["due_at"], name="index_request_due", condition=Q(status="pending")),
            # The confirmer: what may be final by now.
            models.Index(
                fields=["chain_id", "block_number"], name="index_request_unconfirmed", condition=Q(status="indexed")
            ),
            # What is past keeping.
            models.Index(
                fields=["updated_at"], name="index_request_of_page", condition=Q(status="failed", from_page=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tx_hash} on {self.chain_id}: {self.status}"
