"""What happened to tokens after their launch."""

from django.db import models
from django.db.models import F, Q
from django.db.models.fields.json import KT

from tokens.chains.evm.generations.event_decoding import EventKind
from tokens.models.token import ADDRESS_LENGTH, Token

# What changes a token's columns; the others are many and only remembered.
CHANGES = (
    EventKind.ADMIN_UPDATED,
    EventKind.IMAGE_UPDATED,
    EventKind.METADATA_UPDATED,
    EventKind.VERIFIED,
    EventKind.REWARD_RECIPIENT_UPDATED,
    EventKind.REWARD_ADMIN_UPDATED,
    EventKind.FEE_PREFERENCE_UPDATED,
    EventKind.AIRDROP_ROOT_UPDATED,
    EventKind.AIRDROP_ADMIN_UPDATED,
)


class LaunchFacts(models.Model):
    """A token's launch, without the events after it: what its columns are folded from.

    What neither receipt nor calldata tells (before v4 mostly image, metadata and context) is as of the launch's block;
    where no node gave that state, it is as of when the launch was indexed, and may hold changes of before that.

    Beside the token because lists never read it. A token without it was never read from the chain, and vouches for no
    event.
    """

    token = models.OneToOneField(Token, models.CASCADE, primary_key=True, related_name="launch")
    # The fields of `tokens.chains.types.Launch`; numbers are decimal strings, because wei are wider than JSON's.
    facts = models.JSONField()

    class Meta:
        verbose_name_plural = "launch facts"

    def __str__(self) -> str:
        return f"launch of token {self.pk}"


class TokenEvent(models.Model):
    """One log of a contract that is vouched for. When its block is dropped, the row goes, too."""

    chain_id = models.BigIntegerField()
    tx_hash = models.CharField(max_length=100)
    log_index = models.IntegerField()
    block_number = models.BigIntegerField()
    block_hash = models.CharField(max_length=66)
    # Block time.
    at = models.DateTimeField()
    kind = models.CharField(max_length=32, choices=[(kind.value, kind.value.replace("_", " ")) for kind in EventKind])
    emitter = models.CharField(max_length=ADDRESS_LENGTH)
    # None where fees were claimed in a currency that is no token of ours: they belong to no one token.
    token = models.ForeignKey(Token, models.CASCADE, null=True, blank=True, db_index=False, related_name="events")
    # Name -> value as the event has them: numbers as decimal strings, addresses in EIP-55.
    arguments = models.JSONField()

    class Meta:
        constraints = [
            # Indexing again and unwinding find a transaction's events by it.
            models.UniqueConstraint(fields=["chain_id", "tx_hash", "log_index"], name="token_event_once"),
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in EventKind]), name="token_event_kind_known"
            ),
        ]
        indexes = [
            # What a block held: unwinding it, and checking it again.
            models.Index(fields=["chain_id", "block_number"], name="token_event_by_block"),
            # A token's history, newest first.
            models.Index(fields=["token", "-block_number", "-log_index"], name="token_event_newest"),
            # Claims in a currency that turns out to be a token of ours.
            models.Index(
                F("chain_id"), KT("arguments__token"), name="token_event_of_currency", condition=Q(token__isnull=True)
            ),
            # Folding: what changed a token, among any number of collections and claims.
            models.Index(
                fields=["token", "block_number", "log_index"],
                name="token_event_changes",
                condition=Q(kind__in=[kind.value for kind in CHANGES]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} at log {self.log_index} of {self.tx_hash} on {self.chain_id}"


class FeeClaim(models.Model):
    """Fees that one recipient was paid in one currency by one event."""

    event = models.ForeignKey(TokenEvent, models.CASCADE, db_index=False, related_name="claims")
    chain_id = models.BigIntegerField()
    recipient = models.CharField(max_length=ADDRESS_LENGTH)
    # An ERC-20; a launched token, or what it is paired with.
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
            # GET /api/get-claimed-fees: the sum is read from the index alone, the page from its front.
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
