"""Merkle trees with their entries: for airdrops that this service deploys, and for lists that partners save."""

from django.db import models
from django.utils import timezone

from accounts.models import PartnerKey
from tokens.models.deployment import HASH_LENGTH, Deployment
from tokens.models.token import ADDRESS_LENGTH


class AirdropTree(models.Model):
    """The Merkle tree of a deployment's airdrop. Proofs of claims are read from it."""

    deployment = models.OneToOneField(Deployment, on_delete=models.CASCADE, related_name="airdrop")
    root = models.CharField(max_length=HASH_LENGTH)
    # The total of all entries in wei.
    amount = models.DecimalField(max_digits=78, decimal_places=0)
    # The nodes, 32 bytes each, from the root on, in the layout of OpenZeppelin's StandardMerkleTree. Stored without
    # compression, so that a proof reads a few nodes and not all.
    nodes = models.BinaryField()

    def __str__(self) -> str:
        return self.root


class AirdropEntry(models.Model):
    """The amount that one account may claim from an airdrop."""

    tree = models.ForeignKey(AirdropTree, on_delete=models.CASCADE, related_name="entries", db_index=False)
    account = models.CharField(max_length=ADDRESS_LENGTH)
    # Wei.
    amount = models.DecimalField(max_digits=78, decimal_places=0)
    # The index of its leaf in the tree's nodes.
    position = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tree", "account"], name="airdrop_entry_once")]

    def __str__(self) -> str:
        return f"{self.amount} for {self.account}"


class TreeKind(models.TextChoices):
    """The purposes for which partners save entries."""

    AIRDROP = "airdrop"
    ALLOWLIST = "allowlist", "Allow-list"


class SavedTree(models.Model):
    """Entries that a partner has saved, as a tree: it serves every airdrop and every allow-list with its root."""

    partner_key = models.ForeignKey(PartnerKey, on_delete=models.CASCADE, related_name="saved_trees", db_index=False)
    # The first purpose for which the key has saved these entries. The root decides what they serve.
    kind = models.CharField(
        max_length=16, choices=TreeKind, default=TreeKind.AIRDROP, db_default=TreeKind.AIRDROP.value
    )
    root = models.CharField(max_length=HASH_LENGTH)
    # The total of all entries in wei.
    amount = models.DecimalField(max_digits=78, decimal_places=0)
    entry_count = models.PositiveIntegerField()
    # As in AirdropTree, also without compression.
    nodes = models.BinaryField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        # The name from before allow-lists were saved, which the former version reads during an upgrade.
        db_table = "tokens_savedairdrop"
        constraints = [models.UniqueConstraint(fields=["partner_key", "root"], name="saved_airdrop_once")]
        indexes = [
            # A token's or presale's trees, by the root in its contract.
            models.Index(fields=["root"], name="saved_airdrop_root"),
        ]

    def __str__(self) -> str:
        return f"{self.entry_count} entries, root {self.root}"


class SavedTreeEntry(models.Model):
    """The wei that one account may claim, or pay in a presale; the columns are as in AirdropEntry."""

    tree = models.ForeignKey(SavedTree, on_delete=models.CASCADE, related_name="entries", db_index=False)
    account = models.CharField(max_length=ADDRESS_LENGTH)
    # Wei.
    amount = models.DecimalField(max_digits=78, decimal_places=0)
    # The index of its leaf in the tree's nodes.
    position = models.PositiveIntegerField()

    class Meta:
        db_table = "tokens_savedairdropentry"
        constraints = [models.UniqueConstraint(fields=["tree", "account"], name="saved_airdrop_entry_once")]

    def __str__(self) -> str:
        return f"{self.amount} for {self.account}"
