"""Models for followed chains: covered blocks, heads, the reorg window, verification alarms."""

from collections.abc import Collection
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from tokens.models.token import ADDRESS_LENGTH


class CoverageQuerySet(models.QuerySet["Coverage"]):
    """Queries for coverage."""

    def set_back(self, *, to: int) -> int:
        """Set the progress back to this block, or to before a row's first block. Return the row count."""
        reached = Greatest(F("first_block") - 1, to)
        columns: dict[str, Any] = {
            name: Least(F(name), reached) for name in ("followed_to", "verified_to", "summed_to")
        }
        still_repeated = models.When(repeated_from__lte=reached, then=F("repeated_from"))
        return self.update(
            **columns, repeated_from=models.Case(still_repeated, default=None), updated_at=timezone.now()
        )


class Coverage(models.Model):
    """A block range on one chain that is or was read for one set of contracts.

    This row is the progress: it is updated in the transaction that writes the blocks' contents. A range without a last
    block follows the chain indefinitely.
    """

    chain_id = models.BigIntegerField()
    # Lower case, sorted: the registry's contracts whose logs were requested. With trades, they include the contracts
    # that make the pools.
    addresses = ArrayField(models.CharField(max_length=ADDRESS_LENGTH))
    # The addresses' SHA-256 in hex.
    address_set = models.CharField(max_length=64)
    first_block = models.BigIntegerField()
    last_block = models.BigIntegerField(null=True, blank=True)
    # Every block from the first to this one is read and written; initially the first block less 1.
    followed_to = models.BigIntegerField()
    # Every block from the first to this one was read a second time after it became final, and compared.
    verified_to = models.BigIntegerField()
    # The first block that only the first reading's provider returned, without a proof; None if there is none.
    repeated_from = models.BigIntegerField(null=True, blank=True)
    # With trades: rolling sums and markets include every block from the first to this one.
    summed_to = models.BigIntegerField(default=-1, db_default=-1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = CoverageQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "coverage"
        constraints = [
            models.UniqueConstraint(
                fields=["chain_id", "address_set", "first_block", "last_block"],
                name="coverage_once",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(first_block__gte=0)
                & Q(followed_to__gte=F("first_block") - 1)
                & Q(verified_to__gte=F("first_block") - 1)
                & Q(verified_to__lte=F("followed_to"))
                & (Q(last_block__isnull=True) | Q(followed_to__lte=F("last_block"))),
                name="coverage_in_order",
            ),
        ]

    def __str__(self) -> str:
        return f"blocks {self.first_block} to {self.followed_to} of chain {self.chain_id}"


def first_gapless_block(rows: Collection[Coverage], *, before: int) -> int:
    """Return the first block from which on the rows cover all blocks before this one; the block itself if none does.

    The ranges that several backfills read may adjoin.
    """
    while (first := min((row.first_block for row in rows if row.followed_to >= before - 1), default=before)) < before:
        before = first
    return before


class ChainHead(models.Model):
    """A chain's head and its follower's state: one row for each chain that was ever followed."""

    chain_id = models.BigIntegerField(primary_key=True)
    # The newest block that a node reported, the newest final block, and the newest with written logs.
    head = models.BigIntegerField()
    final = models.BigIntegerField()
    followed = models.BigIntegerField(null=True, blank=True)
    # The head's block time, and when it was observed.
    head_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    # Solana: how old the oldest unread transaction is; on EVM chains it follows from the blocks.
    followed_at = models.DateTimeField(null=True, blank=True)
    # The reason why following was halted until an operator resumes it; empty while it runs.
    halted = models.TextField(blank=True)
    # When the last halt began, and when an operator ended it; None if unknown.
    halted_at = models.DateTimeField(null=True, blank=True)
    resumed_at = models.DateTimeField(null=True, blank=True)
    # The last error, without URLs; cleared by the next success.
    error = models.TextField(blank=True, db_column="trouble")
    # The following process: host name and process id.
    follower = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return f"head {self.head} of chain {self.chain_id}"


class FollowedBlock(models.Model):
    """A block in the reorg window with written logs: a link in the follower's own parent hash chain."""

    chain_id = models.BigIntegerField()
    number = models.BigIntegerField()
    hash = models.CharField(max_length=66)
    parent_hash = models.CharField(max_length=66)
    # Block time.
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain_id", "number"], name="followed_block_once")]

    def __str__(self) -> str:
        return f"block {self.number} of chain {self.chain_id}"


class CoverageAlarm(models.Model):
    """Result of verifying final blocks: rows that were wrong, or that no proof confirmed."""

    chain_id = models.BigIntegerField()
    first_block = models.BigIntegerField()
    last_block = models.BigIntegerField()
    # How many launches and events were missing, and how many stored ones the chain does not have.
    missing = models.PositiveIntegerField()
    invented = models.PositiveIntegerField()
    # Transactions whose rows had other values, such as a wrong time, and rows that stayed although a reading lacked
    # them, because nothing proved that they were wrong.
    corrected = models.PositiveIntegerField(default=0, db_default=0)
    kept = models.PositiveIntegerField(default=0, db_default=0)
    # Blocks whose receipts don't make the header's bloom filter, or could not be read.
    unproven = models.PositiveIntegerField(default=0, db_default=0)
    # The transactions concerned, at most a hundred.
    tx_hashes = ArrayField(models.CharField(max_length=100))
    raised_at = models.DateTimeField(auto_now_add=True)
    # Whether the rows were corrected.
    repaired = models.BooleanField()
    # When an operator acknowledged it.
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["-raised_at"], name="coverage_alarm_newest")]

    def __str__(self) -> str:
        return f"blocks {self.first_block} to {self.last_block} of chain {self.chain_id}: {self.missing} were missing"

    @property
    def wrong(self) -> int:
        """Return how many stored entries were wrong, or have no proof."""
        return self.invented + self.corrected + self.kept
