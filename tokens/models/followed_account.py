"""Followed Solana accounts: listing progress, and listed transactions that are not read yet."""

from django.db import models
from django.db.models import F, Q

from tokens.models.token import ADDRESS_LENGTH

# 64 bytes in base58.
SIGNATURE_LENGTH = 88


class FollowedAccount(models.Model):
    """An account in the registry; its transactions are listed newest first, and read oldest first.

    Nodes list backwards from the newest, so a listing continues until it reaches what is read already; only then its
    oldest transaction is read. Both positions are stored here and updated in the transaction that writes the results.
    """

    chain_id = models.BigIntegerField()
    address = models.CharField(max_length=ADDRESS_LENGTH)
    # The lower limit: no transaction before this slot is read.
    first_slot = models.BigIntegerField(default=0)
    # The newest transaction in the last listing that was read completely, with its slot; initially empty.
    read_to = models.CharField(max_length=SIGNATURE_LENGTH, blank=True)
    read_to_slot = models.BigIntegerField(default=0)
    # Every transaction up to this slot is read, and when it was the newest; null until the first complete read.
    complete_to = models.BigIntegerField(null=True, blank=True)
    complete_at = models.DateTimeField(null=True, blank=True)
    # The current listing: the newest slot at its start, and that slot's time; null if there is none.
    listing_slot = models.BigIntegerField(null=True, blank=True)
    listing_at = models.DateTimeField(null=True, blank=True)
    # Its newest transaction, with its slot; the oldest that it reached; and the one listed before that.
    listed_from = models.CharField(max_length=SIGNATURE_LENGTH, blank=True)
    listed_from_slot = models.BigIntegerField(default=0)
    listed_to = models.CharField(max_length=SIGNATURE_LENGTH, blank=True)
    listed_before = models.CharField(max_length=SIGNATURE_LENGTH, blank=True)
    # Whether the listing reached the oldest stored transaction; without that it may have a gap.
    met = models.BooleanField(default=False)
    # Whether the listing is complete, so that its transactions can be read.
    listed = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain_id", "address"], name="followed_account_once"),
            models.CheckConstraint(
                condition=Q(listed=False) | Q(listing_slot__isnull=False), name="followed_account_listing_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.address} of chain {self.chain_id}"


class ListedSignature(models.Model):
    """A listed transaction until it is read, and for some time after: listings overlap."""

    account = models.ForeignKey(FollowedAccount, models.CASCADE, db_index=False, related_name="listed_signatures")
    signature = models.CharField(max_length=SIGNATURE_LENGTH)
    slot = models.BigIntegerField()
    # Block time; null if the node did not have it.
    at = models.DateTimeField(null=True, blank=True)
    read = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "signature"], name="listed_signature_once")]
        indexes = [
            # The next to be read: within one slot, the last one listed is the oldest.
            models.Index(
                F("account"), F("slot"), F("id").desc(), name="listed_signature_next", condition=Q(read=False)
            ),
            # Read transactions that no listing reaches any more.
            models.Index(fields=["account", "slot"], name="listed_signature_read", condition=Q(read=True)),
        ]

    def __str__(self) -> str:
        return self.signature
