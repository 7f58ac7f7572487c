"""Model of index requests."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone


class IndexRequestStatus(models.TextChoices):
    """The states of an index request."""

    # Not read yet; `due_at` is when the sweeper enqueues it (again), a lease after the last message.
    PENDING = "pending"
    # Written; a reorg may still drop its block.
    INDEXED = "indexed"
    # Written, and its block is below finality depth.
    CONFIRMED = "confirmed"
    # Given up for the reason in `last_error`; an operator can retry it.
    FAILED = "failed"
    # Was written; the chain dropped it permanently.
    ORPHANED = "orphaned"


class IndexRequestQuerySet(models.QuerySet["IndexRequest"]):
    """Queries for index requests by their pending work."""

    def update_and_touch(self, **changes: Any) -> int:
        """Update rows and their time stamp; return the row count, which is 0 if a guarding filter no longer holds."""
        return self.update(updated_at=timezone.now(), **changes)

    def for_transactions(self, transactions: Iterable[tuple[int, str]]) -> Self:
        """Return the requests of these transactions, each as (chain id, hash)."""
        keys = set(transactions)
        # The chains as well: they are the first column of the index.
        chain_ids, hashes = ({part[position] for part in keys} for position in (0, 1))
        found = self.filter(chain_id__in=chain_ids, tx_hash__in=hashes)
        return self.filter(pk__in=[request.pk for request in found if (request.chain_id, request.tx_hash) in keys])

    def due(self, now: datetime) -> Self:
        """Return the pending requests with an expired lease or delay, oldest first."""
        return self.filter(status="pending", due_at__lte=now).order_by("due_at")

    def failed_page_requests(self, before: datetime) -> Self:
        """Return the requests made only by page views that failed before this time."""
        return self.filter(status="failed", from_page=True, updated_at__lt=before)

    def unconfirmed(self, *, chain_id: int, up_to_block: int) -> Self:
        """Return the indexed requests of a chain up to this block, lowest block first."""
        unconfirmed = self.filter(status="indexed", chain_id=chain_id, block_number__lte=up_to_block)
        return unconfirmed.order_by("block_number")


class IndexRequest(models.Model):
    """A request to index one transaction, and its progress."""

    chain_id = models.BigIntegerField()
    tx_hash = models.CharField(max_length=100)
    status = models.CharField(max_length=16, choices=IndexRequestStatus, default=IndexRequestStatus.PENDING)
    # Attempts that the chain responded to; an outage of its nodes does not count.
    attempts = models.PositiveIntegerField(default=0)
    # Consecutive attempts that started and never ended: the worker was killed, or hit a bug.
    unfinished = models.PositiveIntegerField(default=0)
    last_error = models.TextField(blank=True)
    block_number = models.BigIntegerField(null=True, blank=True)
    block_hash = models.CharField(max_length=66, blank=True)
    due_at = models.DateTimeField()
    # Requested only by public page views: its failure raises no alarm.
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
            # The sweeper: pending requests, oldest first.
            models.Index(fields=["due_at"], name="index_request_due", condition=Q(status="pending")),
            # The confirmer: requests that may be final.
            models.Index(
                fields=["chain_id", "block_number"], name="index_request_unconfirmed", condition=Q(status="indexed")
            ),
            # The retention limit of failed page requests.
            models.Index(
                fields=["updated_at"], name="index_request_of_page", condition=Q(status="failed", from_page=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tx_hash} on {self.chain_id}: {self.status}"
