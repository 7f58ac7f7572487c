"""How far the accounts of Solana's launchpads were read, and the transactions that were listed and are not read yet."""

from django.db import models

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
    # The newest transaction up to which everything is read, with its slot; empty at the start.
    read_to = models.CharField(max_length=SIGNATURE_LENGTH, blank=True)
    read_to_slot = models.BigIntegerField(default=0)
    # The listing under way: its newest transaction, and the oldest that it came to. Empty while none is.
    listed_from = models.CharField(max_length=SIGNATURE_LENGTH, blank=True)
    listed_from_slot = models.BigIntegerField(default=0)
    listed_to = models.CharField(max_length=SIGNATURE_LENGTH, blank=True)
    # Whether the listing has met what is read already, so that its transactions can be read.
    listed = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain_id", "address"], name="followed_account_once")]

    def __str__(self) -> str:
        return f"{self.address} of chain {self.chain_id}"


class ListedSignature(models.Model):
    """A transaction that a listing told of, until it is read."""

    account = models.ForeignKey(FollowedAccount, models.CASCADE, db_index=False, related_name="listed_signatures")
    # Counts from the listing's newest back.
    place = models.BigIntegerField()
    signature = models.CharField(max_length=SIGNATURE_LENGTH)
    slot = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "signature"], name="listed_signature_once"),
            # Read backwards: the oldest is the next to be read.
            models.UniqueConstraint(fields=["account", "place"], name="listed_signature_in_order"),
        ]

    def __str__(self) -> str:
        return self.signature
