"""How far each chain was read, of which blocks, and what was found to be missing."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from tokens.models.token import ADDRESS_LENGTH


class Coverage(models.Model):
    """A run of blocks of one chain that was read, or is being read, for one set of contracts.

    Progress is this row: it moves in the transaction that writes what the blocks held. One without a last block follows
    the chain for ever.
    """

    chain_id = models.BigIntegerField()
    # Lower case, sorted: the registry's contracts whose logs were asked for.
    addresses = ArrayField(models.CharField(max_length=ADDRESS_LENGTH))
    # Hex SHA-256 of the addresses.
    address_set = models.CharField(max_length=64)
    first_block = models.BigIntegerField()
    last_block = models.BigIntegerField(null=True, blank=True)
    # Every block from the first up to here is read and written; the first one less 1 at the start.
    followed_to = models.BigIntegerField()
    # Every block from the first up to here was checked again once it was final.
    verified_to = models.BigIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

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


class ChainHead(models.Model):
    """Where a chain is, and its follower: one row for each chain that was ever followed."""

    chain_id = models.BigIntegerField(primary_key=True)
    # The newest block that a node told of, the newest that is final, and the newest whose logs are written.
    head = models.BigIntegerField()
    final = models.BigIntegerField()
    followed = models.BigIntegerField(null=True, blank=True)
    # The head's own time, and when it was seen.
    head_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    # Solana: since when what comes next has waited; EVM chains have it from their blocks.
    followed_at = models.DateTimeField(null=True, blank=True)
    # Why following stopped until an operator decides; empty while it goes on.
    halted = models.TextField(blank=True)
    # What went wrong last, in words that hold no URL; empty since it goes well.
    trouble = models.TextField(blank=True)
    # Which process follows: host name and process id.
    follower = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return f"head {self.head} of chain {self.chain_id}"


class FollowedBlock(models.Model):
    """A block whose logs are written and that the chain may still drop: the follower's own chain of parent hashes."""

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
    """What a check of final blocks found: rows that were missing, or that the chain does not have."""

    chain_id = models.BigIntegerField()
    first_block = models.BigIntegerField()
    last_block = models.BigIntegerField()
    # How many launches and events had been left out, and how many there were that the chain does not have.
    missing = models.PositiveIntegerField()
    invented = models.PositiveIntegerField()
    # Of which transactions, at most a hundred of them.
    tx_hashes = ArrayField(models.CharField(max_length=100))
    raised_at = models.DateTimeField(auto_now_add=True)
    # Whether the rows are right again.
    repaired = models.BooleanField()
    # When an operator has seen it.
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["-raised_at"], name="coverage_alarm_newest")]

    def __str__(self) -> str:
        return f"blocks {self.first_block} to {self.last_block} of chain {self.chain_id}: {self.missing} were missing"
