"""How far the accounts of Solana's launchpads were read, and the transactions that were listed and are not read yet."""

from django.db import models
from django.db.models import F, Q

from tokens.models.token import ADDRESS_LENGTH

# Base58 of 64 bytes.
SIGNATURE_LENGTH = 88


class FollowedAccount(models.Model):
    """An account of the registry whose transactions are listed newest first, and read oldest first.

    Nodes list from the newest back, so a listing goes down until it meets what is read already; only then its oldest
    transaction is read. Both ways are kept here, and move in the transaction that writes what was found.
    """

    chain_id = models.BigIntegerField()
    address = models.CharField(max_length=ADDRESS_LENGTH)
    # Nothing before this slot is read.
    first_slot = models.BigIntegerField(default=0)
    # The newest transaction of the last listing all of which is read, with its slot; empty at the start.
    read_to = models.CharField(max_length=SIGNATURE_LENGTH, blank=True)
    read_to_slot = models.BigIntegerField(default=0)
    # Every transaction up to this slot is read, and when it was the newest one; null until all was read once.
    complete_to = models.BigIntegerField(null=True, blank=True)
    complete_at = models.DateTimeField(null=True, blank=True)
    # The listing under way: the newest slot when it began, and when that was; null while none is.
    listing_slot = models.BigIntegerField(null=True, blank=True)
    listing_at = models.DateTimeField(null=True, blank=True)
    # Its newest transaction, with its slot; the oldest that it came to; and the one listed before that.
    listed_from = models.CharField(max_length=SIGNATURE_LENGTH, blank=True)
    listed_from_slot = models.BigIntegerField(default=0)
    listed_to = models.CharField(max_length=SIGNATURE_LENGTH, blank=True)
    listed_before = models.CharField(max_length=SIGNATURE_LENGTH, blank=True)
    # Whether it has met the oldest that is known of those to which it comes down, without which it proves nothing.
    met = models.BooleanField(default=False)
    # Whether it has come to its end, so that its transactions can be read.
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
    """A transaction that a listing told of, until it is read, and a while longer: listings overlap."""

    account = models.ForeignKey(FollowedAccount, models.CASCADE, db_index=False, related_name="listed_signatures")
    signature = models.CharField(max_length=SIGNATURE_LENGTH)
    slot = models.BigIntegerField()
    # Block time; null where the node did not know it.
    at = models.DateTimeField(null=True, blank=True)
    read = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "signature"], name="listed_signature_once")]
        indexes = [
            # The next to be read: of those in one slot, the one that was listed last is the oldest.
            models.Index(
                F("account"), F("slot"), F("id").desc(), name="listed_signature_next", condition=Q(read=False)
            ),
            # What no listing comes down to any more.
            models.Index(fields=["account", "slot"], name="listed_signature_read", condition=Q(read=True)),
        ]

    def __str__(self) -> str:
        return self.signature
