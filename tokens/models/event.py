"""Models for launch facts, states read from contracts, later token events, pools and fee claims."""

from django.db import models
from django.db.models import F, Q
from django.db.models.fields.json import KT
from django.db.models.lookups import IsNull

from tokens.chains.evm.generations.event_decoding import EventKind
from tokens.models.token import ADDRESS_LENGTH, Token

# The kinds that change a token's columns; the others are more frequent and only stored.
CHANGE_KINDS = (
    EventKind.ADMIN_UPDATED,
    EventKind.IMAGE_UPDATED,
    EventKind.METADATA_UPDATED,
    EventKind.VERIFIED,
    EventKind.REWARD_RECIPIENT_UPDATED,
    EventKind.REWARD_ADMIN_UPDATED,
    EventKind.FEE_PREFERENCE_UPDATED,
    EventKind.AIRDROP_ROOT_UPDATED,
    EventKind.AIRDROP_ADMIN_UPDATED,
    EventKind.NAME_UPDATED,
    EventKind.SYMBOL_UPDATED,
    EventKind.URI_UPDATED,
    EventKind.POOL_CHANGED,
)


class LaunchFacts(models.Model):
    """A token's launch without later events: the base that its columns are folded from.

    Fields that neither receipt nor calldata contain (before v4 mostly image, metadata and context) were read
    at the launch's block. If no node had that state, they were read at indexing and may include later changes.

    Stored beside the token because lists never read it. A token without it was never read from the chain, and its
    events are not trusted.
    """

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="launch")
    # The fields in `tokens.chains.types.Launch`; numbers are decimal strings, because wei are wider than JSON's.
    facts = models.JSONField()

    class Meta:
        verbose_name_plural = "launch facts"
        indexes = [
            # The token of an NFT that changes its owner.
            models.Index(KT("facts__nft"), name="launch_by_nft", condition=Q(IsNull(KT("facts__nft"), False))),
        ]

    def __str__(self) -> str:
        return f"launch of token {self.pk}"


class StoredState(models.Model):
    """A token's state after a block, read from its contracts when its launch was indexed by hash.

    It stands for all events up to that block. The row is deleted when its block is orphaned.
    """

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="state")
    chain_id = models.BigIntegerField()
    block_number = models.BigIntegerField()
    block_hash = models.CharField(max_length=66)
    # The fields in `tokens.chains.types.TokenState` that were read.
    facts = models.JSONField()

    class Meta:
        indexes = [
            # Unwinding: a block's states.
            models.Index(fields=["chain_id", "block_number"], name="stored_state_by_block"),
        ]

    def __str__(self) -> str:
        return f"state of token {self.pk} at block {self.block_number}"


class TokenEvent(models.Model):
    """A trusted contract's log. The row is deleted when its block is orphaned."""

    chain_id = models.BigIntegerField()
    tx_hash = models.CharField(max_length=100)
    log_index = models.IntegerField()
    block_number = models.BigIntegerField()
    block_hash = models.CharField(max_length=66)
    # Block time.
    at = models.DateTimeField()
    kind = models.CharField(max_length=32, choices=[(kind.value, kind.value.replace("_", " ")) for kind in EventKind])
    emitter = models.CharField(max_length=ADDRESS_LENGTH)
    # None for a fee claim in a currency that is no indexed token: it belongs to no single token.
    token = models.ForeignKey(Token, models.CASCADE, null=True, blank=True, db_index=False, related_name="events")
    # Name -> value as in the event: numbers as decimal strings, addresses in EIP-55.
    arguments = models.JSONField()

    class Meta:
        constraints = [
            # Re-indexing and unwinding look up a transaction's events by it.
            models.UniqueConstraint(fields=["chain_id", "tx_hash", "log_index"], name="token_event_once"),
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in EventKind]), name="token_event_kind_known"
            ),
        ]
        indexes = [
            # A block's events: for unwinding and verification.
            models.Index(fields=["chain_id", "block_number"], name="token_event_by_block"),
            # A token's history, newest first.
            models.Index(fields=["token", "-block_number", "-log_index"], name="token_event_newest"),
            # Claims in a currency that is indexed as a token later.
            models.Index(
                F("chain_id"), KT("arguments__token"), name="token_event_of_currency", condition=Q(token__isnull=True)
            ),
            # Folding: the events that changed a token, among any number of collections and claims.
            models.Index(
                fields=["token", "block_number", "log_index"],
                name="token_event_folded",
                condition=Q(kind__in=[kind.value for kind in CHANGE_KINDS]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} at log {self.log_index} of {self.tx_hash} on {self.chain_id}"


class TokenPool(models.Model):
    """A pool of a token that has several: its curve graduates into another, or its launchpad moves the liquidity."""

    pk = models.CompositePrimaryKey("token_id", "pool_address")
    token = models.ForeignKey(Token, models.CASCADE, db_index=False, related_name="pools")
    # As `Token.pool_address`.
    pool_address = models.CharField(max_length=66)
    # Whether the token is currency 0; None for the launch's pool, where it follows from the launch.
    is_currency0 = models.BooleanField(null=True)
    # The pool's hook; empty without one, and for the launch's pool, where it follows from the launch.
    hook = models.CharField(max_length=ADDRESS_LENGTH, blank=True, default="", db_default="")

    class Meta:
        indexes = [
            # The token of a swap.
            models.Index(fields=["pool_address"], name="token_pool_by_address"),
        ]

    def __str__(self) -> str:
        return f"{self.pool_address} of token {self.token_id}"


class FeeClaim(models.Model):
    """Fees that one event paid to one recipient in one currency."""

    event = models.ForeignKey(TokenEvent, models.CASCADE, db_index=False, related_name="claims")
    chain_id = models.BigIntegerField()
    recipient = models.CharField(max_length=ADDRESS_LENGTH)
    # An ERC-20: a launched token, its paired token, or what its launchpad pays in; zero for the chain's coin.
    currency = models.CharField(max_length=ADDRESS_LENGTH)
    # Smallest units.
    amount = models.DecimalField(max_digits=78, decimal_places=0)
    # Block time.
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["event", "recipient", "currency"], name="fee_claim_once"),
            models.CheckConstraint(condition=Q(amount__gt=0), name="fee_claim_positive"),
        ]
        indexes = [
            # GET /api/get-claimed-fees: an index-only scan for the sum, the first entries for the page.
            models.Index(
                F("chain_id"),
                F("recipient"),
                F("currency"),
                F("at").desc(),
                F("id").desc(),
                name="fee_claim_newest",
                include=["amount"],
            ),
        ]

    def __str__(self) -> str:
        return f"{self.amount} of {self.currency} to {self.recipient}"
