"""Model of index requests."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Self

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from config.queue import Leased, LeasedQuerySet
from tokens.models.event import StoredState
from tokens.models.token import Token


class IndexRequestStatus(models.TextChoices):
    """The states of an index request."""

    # Not read yet; when it is due, the sweeper enqueues a message (again), a lease after the last one.
    PENDING = "pending"
    # Written; a reorg may still drop its block.
    INDEXED = "indexed"
    # Written, and its block is below finality depth.
    CONFIRMED = "confirmed"
    # Given up for the reason in `last_error`; an operator can retry it.
    FAILED = "failed"
    # Was written; the chain dropped it permanently.
    ORPHANED = "orphaned"


class IndexRequestQuerySet(LeasedQuerySet["IndexRequest"]):
    """Queries for index requests by their pending work."""

    def update(self, **changes: Any) -> int:
        """Update rows and their time stamp; return the row count, which is 0 if a guarding filter no longer holds."""
        return super().update(**{"updated_at": timezone.now()} | changes)

    def for_transactions(self, transactions: Iterable[tuple[int, str]]) -> Self:
        """Return the requests of these transactions, each as (chain id, hash)."""
        keys = set(transactions)
        # The chains as well: they are the first column of the index.
        chain_ids, hashes = ({part[position] for part in keys} for position in (0, 1))
        found = self.filter(chain_id__in=chain_ids, tx_hash__in=hashes)
        return self.filter(pk__in=[request.pk for request in found if (request.chain_id, request.tx_hash) in keys])

    def failed_page_requests(self, before: datetime) -> Self:
        """Return the requests made only by page views that failed before this time."""
        return self.filter(status="failed", from_page=True, updated_at__lt=before)

    def unconfirmed(self, *, chain_id: int, up_to_block: int) -> Self:
        """Return the indexed requests of a chain whose tokens' state, too, is of a block up to this one.

        The lowest block comes first.
        """
        launched = Q(token__chain_id=OuterRef("chain_id"), token__tx_hash=OuterRef("tx_hash"))
        later = StoredState.objects.filter(launched, block_number__gt=up_to_block)
        return self._indexed(chain_id, up_to_block).exclude(Exists(later))

    def launching_unconfirmed(self, *, chain_id: int, up_to_block: int) -> Self:
        """Return the indexed requests of a chain with an unconfirmed launch in a block up to this one, lowest first."""
        launched = Token.objects.filter(
            chain_id=OuterRef("chain_id"), tx_hash=OuterRef("tx_hash"), confirmed=False, unindexed=False
        )
        return self._indexed(chain_id, up_to_block).filter(Exists(launched))

    def _indexed(self, chain_id: int, up_to_block: int) -> Self:
        indexed = self.filter(status="indexed", chain_id=chain_id, block_number__lte=up_to_block)
        return indexed.order_by("block_number")


class IndexRequest(Leased):
    """A request to index one transaction, and its progress. An outage of the chain's nodes counts no attempt."""

    QUEUE = "index_requests"
    QUEUED = Q(status="pending")
    GIVEN_UP = {"status": "failed"}

    chain_id = models.BigIntegerField()
    tx_hash = models.CharField(max_length=100)
    status = models.CharField(max_length=16, choices=IndexRequestStatus, default=IndexRequestStatus.PENDING)
    block_number = models.BigIntegerField(null=True, blank=True)
    block_hash = models.CharField(max_length=66, blank=True)
    # Failed because a trusted contract or program has an unknown layout: the decoder may be outdated.
    undecodable = models.BooleanField(default=False, db_default=False)
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
            # The metric of undecodable transactions.
            models.Index(
                fields=["chain_id"], name="index_request_undecodable", condition=Q(status="failed", undecodable=True)
            ),
            # The retention limit of failed page requests.
            models.Index(
                fields=["updated_at"], name="index_request_of_page", condition=Q(status="failed", from_page=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tx_hash} on {self.chain_id}: {self.status}"
