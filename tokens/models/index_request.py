"""Index request model."""

import logging
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Self

from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from config.postgresql.leased_queue import Leased, LeasedQuerySet
from tokens.chains.pool_types import UndecodableLog
from tokens.chains.registry.entry_rules import LONGEST_GENERATION_NAME
from tokens.models.event import StoredState, TokenPool
from tokens.models.expressions import equals_any
from tokens.models.token import ADDRESS_LENGTH, Token

logger = logging.getLogger(__name__)

# Undecodable requests for one contract: enough for the alert and for examples.
MOST_UNDECODABLE = 1_000


class IndexRequestStatus(models.TextChoices):
    """Index request states."""

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

    def release(self, *, due_at: Any, **changes: Any) -> int:
        """End the lease without an outcome, and with no outage unless `changes` name one."""
        return super().release(due_at=due_at, **{"node_outage": False} | changes)

    def for_transactions(self, transactions: Iterable[tuple[int, str]]) -> Self:
        """Return the requests for these transactions, each as (chain id, hash)."""
        keys = set(transactions)
        # The chains as well: they are the index's first column.
        chain_ids, hashes = ({key[position] for key in keys} for position in (0, 1))
        requests = self.filter(chain_id__in=chain_ids, tx_hash__in=hashes)
        return self.filter(pk__in=[request.pk for request in requests if (request.chain_id, request.tx_hash) in keys])

    def failed_page_requests(self, before: datetime) -> Self:
        """Return the requests made only by page views that failed before this time."""
        return self.filter(status="failed", from_page=True, updated_at__lt=before)

    def add_undecodable(self, chain_id: int, logs: Iterable[UndecodableLog]) -> None:
        """Mark the logs' transactions as undecodable, and report each to the process log; a new request has failed.

        A log without a launchpad counts if its emitter is or was an indexed token's curve. At most MOST_UNDECODABLE
        requests are marked for each contract: an upgraded one may emit millions. Call it in a database transaction that
        holds the chain's lock.
        """
        counted = _of_indexed_curves(chain_id, logs)
        if not counted:
            return
        marked = self.filter(chain_id=chain_id, undecodable=True, contract__in={log.emitter for log in counted})
        stored = Counter(marked.values_list("contract", flat=True))
        requests = []
        for log in {log.tx_hash: log for log in reversed(counted)}.values():
            text = "chain=%s %s can't be read: log %s of %s: %s"
            logger.error(text, chain_id, log.tx_hash, log.log_index, log.emitter or "its program", log.reason)
            stored[log.emitter] += 1
            if stored[log.emitter] <= MOST_UNDECODABLE:
                requests.append(_undecodable_request(chain_id, log))
        self.bulk_create(
            requests,
            update_conflicts=True,
            unique_fields=["chain_id", "tx_hash"],
            update_fields=["undecodable", "contract", "launchpad"],
        )

    def unconfirmed(self, *, chain_id: int, up_to_block: int) -> Self:
        """Return a chain's indexed requests up to this block whose tokens have no state from a later block.

        The lowest block comes first.
        """
        launched = Q(token__chain_id=OuterRef("chain_id"), token__tx_hash=OuterRef("tx_hash"))
        later = StoredState.objects.filter(launched, block_number__gt=up_to_block)
        return self._indexed(chain_id, up_to_block).exclude(Exists(later))

    def launching_unconfirmed(self, *, chain_id: int, up_to_block: int) -> Self:
        """Return a chain's indexed requests with an unconfirmed launch in a block up to this one, lowest first."""
        launched = Token.objects.filter(
            chain_id=OuterRef("chain_id"), tx_hash=OuterRef("tx_hash"), confirmed=False, unindexed=False
        )
        return self._indexed(chain_id, up_to_block).filter(Exists(launched))

    def _indexed(self, chain_id: int, up_to_block: int) -> Self:
        indexed = self.filter(status="indexed", chain_id=chain_id, block_number__lte=up_to_block)
        return indexed.order_by("block_number")


def _of_indexed_curves(chain_id: int, logs: Iterable[UndecodableLog]) -> list[UndecodableLog]:
    """Return the logs with their launchpad. Leave out curves that no indexed token has or had."""
    listed = list(logs)
    curves = {log.emitter for log in listed if log.launchpad is None}
    if not curves:
        return listed
    tokens = Token.objects.filter(equals_any("pool_address", curves), chain_id=chain_id)
    former = TokenPool.objects.filter(equals_any("pool_address", curves), token__chain_id=chain_id)
    launchpads = dict(former.values_list("pool_address", "token__generation"))
    launchpads |= dict(tokens.values_list("pool_address", "generation"))
    logs = (log._replace(launchpad=launchpads.get(log.emitter)) if log.launchpad is None else log for log in listed)
    return [log for log in logs if log.launchpad is not None]


def _undecodable_request(chain_id: int, log: UndecodableLog) -> "IndexRequest":
    return IndexRequest(
        chain_id=chain_id,
        tx_hash=log.tx_hash,
        status=IndexRequestStatus.FAILED,
        attempts=1,
        last_error=log.reason,
        undecodable=True,
        contract=log.emitter,
        launchpad=log.launchpad or "",
        due_at=timezone.now(),
    )


class IndexRequest(Leased):
    """A request to index one transaction, and its progress. While the chain's nodes are down, no attempt is counted."""

    QUEUE = "index_requests"
    QUEUED = Q(status="pending")
    GIVEN_UP = {"status": "failed"}

    chain_id = models.BigIntegerField()
    tx_hash = models.CharField(max_length=100)
    status = models.CharField(max_length=16, choices=IndexRequestStatus, default=IndexRequestStatus.PENDING)
    block_number = models.BigIntegerField(null=True, blank=True)
    block_hash = models.CharField(max_length=66, blank=True)
    # A trusted contract or program has an unknown layout, or emitted impossible values: the decoder may be outdated.
    # The transaction's other launches and events are stored.
    undecodable = models.BooleanField(default=False, db_default=False)
    # The first undecodable log's emitter, and its launchpad's name; empty where unknown, as on Solana.
    contract = models.CharField(max_length=ADDRESS_LENGTH, blank=True, default="", db_default="")
    launchpad = models.CharField(max_length=LONGEST_GENERATION_NAME, blank=True, default="", db_default="")
    # The last attempt failed because the chain's nodes did; read while the request is pending.
    node_outage = models.BooleanField(default=False, db_default=False)
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
            # Metric: undecodable transactions, also counted by launchpad and contract.
            models.Index(
                fields=["chain_id", "launchpad", "contract"],
                name="index_request_undecodable_by",
                condition=Q(undecodable=True),
            ),
            # The retention limit for failed page requests.
            models.Index(
                fields=["updated_at"], name="index_request_of_page", condition=Q(status="failed", from_page=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tx_hash} on {self.chain_id}: {self.status}"
