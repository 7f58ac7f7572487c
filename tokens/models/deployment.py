"""What partners have us launch: orders, the wallets that send them, each try with its nonce, all signed versions."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import PartnerKey
from tokens.models.deployment_querysets import DeployAttemptQuerySet, DeploymentQuerySet
from tokens.models.token import ADDRESS_LENGTH, Token

# 0x and the 64 digits of a hash, or of a salt.
HASH_LENGTH = 66


class Deployment(models.Model):
    """One order to launch a token, by the key that the partner chose for it: it is carried out exactly once."""

    class Status(models.TextChoices):
        # Stored; nothing of it is signed, or no version of it can be mined any more.
        ENQUEUED = "enqueued"
        # Signed, with a nonce; on its way to the chain until a receipt comes.
        SUBMITTED = "submitted"
        # In a block. A presale stays here until its sale ends in a launch.
        MINED = "mined"
        # Its token is listed.
        INDEXED = "indexed"
        # Given up, `error` says why; an operator can have it tried again.
        FAILED = "failed"

    # None is an operator's own.
    partner_key = models.ForeignKey(PartnerKey, on_delete=models.PROTECT, null=True, blank=True, db_index=False)
    request_key = models.CharField(max_length=32)
    # Hex SHA-256 of the body in canonical JSON: another body under the same key is refused.
    body_digest = models.CharField(max_length=64)
    chain_id = models.BigIntegerField()
    # The configuration with every default filled in, as answers show it; entries of an airdrop have rows of their own.
    config = models.JSONField()
    salt = models.CharField(max_length=HASH_LENGTH)
    # What was simulated, and what is signed: contract, calldata, wei of the native coin, and gas with its reserve.
    to_address = models.CharField(max_length=ADDRESS_LENGTH)
    calldata = models.BinaryField()
    value = models.DecimalField(max_digits=78, decimal_places=0)
    gas = models.BigIntegerField()
    # Where the token comes to be; empty for a presale, whose launch has a salt of its own.
    expected_address = models.CharField(max_length=ADDRESS_LENGTH, blank=True)
    # The presale that was started, once its transaction is mined.
    presale_id = models.DecimalField(max_digits=78, decimal_places=0, null=True, blank=True)

    status = models.CharField(max_length=16, choices=Status, default=Status.ENQUEUED)
    # What went wrong last, in words for the partner; empty while all is well.
    error = models.TextField(blank=True)
    # How many nonces it was given.
    attempts = models.PositiveIntegerField(default=0)
    # The transaction that carried it out, or the newest version of the one that is to.
    tx_hash = models.CharField(max_length=HASH_LENGTH, blank=True)
    token = models.ForeignKey(Token, on_delete=models.SET_NULL, null=True, blank=True, db_index=False)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(auto_now=True)
    # When its block was too deep to be dropped; from then on nobody looks after it.
    final_at = models.DateTimeField(null=True, blank=True)

    objects = DeploymentQuerySet.as_manager()

    class Meta:
        constraints = [
            # Exactly once: whoever comes second finds the first one's row.
            models.UniqueConstraint(
                name="deployment_once", fields=["partner_key", "request_key"], nulls_distinct=False
            ),
            models.CheckConstraint(
                name="deployment_status_known",
                condition=Q(status__in=["enqueued", "submitted", "mined", "indexed", "failed"]),
            ),
        ]
        indexes = [
            # What waits for a wallet, oldest first.
            models.Index(fields=["chain_id", "id"], name="deployment_enqueued", condition=Q(status="enqueued")),
            # What is looked after until it is final.
            models.Index(
                fields=["chain_id", "status"],
                name="deployment_in_flight",
                condition=Q(final_at__isnull=True) & ~Q(status="enqueued"),
            ),
            # What failed lately, for the dashboard and the metrics.
            models.Index(fields=["updated_at"], name="deployment_failed", condition=Q(status="failed")),
            # A partner's orders on a chain within a day, for quotas.
            models.Index(fields=["partner_key", "chain_id", "created_at"], name="deployment_quota"),
            # The order behind a token, for airdrop claims and the admin's links.
            models.Index(fields=["expected_address"], name="deployment_address"),
            models.Index(fields=["presale_id"], name="deployment_presale", condition=Q(presale_id__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.request_key} on {self.chain_id}: {self.status}"


class DeployWallet(models.Model):
    """A wallet that sends deployments on one chain. Its key is the signer's alone; this row's lock is the nonce's."""

    chain_id = models.BigIntegerField()
    address = models.CharField(max_length=ADDRESS_LENGTH)
    # The lowest nonce that nobody was given yet, as far as we know; the chain may be further.
    next_nonce = models.BigIntegerField(default=0)
    # An operator's choice. One that is switched off gets no more deployments, and those that it has are finished.
    enabled = models.BooleanField(default=True)
    # Whether a signer of this installation has its key now.
    signable = models.BooleanField(default=False)
    # Wei of the native coin when it was last asked; None before.
    balance = models.DecimalField(max_digits=78, decimal_places=0, null=True, blank=True)
    balance_at = models.DateTimeField(null=True, blank=True)
    # What keeps it from sending, in words that hold no URL; empty while nothing does.
    trouble = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain_id", "address"], name="deploy_wallet_once")]

    def __str__(self) -> str:
        return f"{self.address} on {self.chain_id}"


class DeployAttempt(models.Model):
    """A nonce of a wallet, and what it is used for: a deployment, or nothing but that later nonces can go on."""

    class State(models.TextChoices):
        # No receipt yet.
        OPEN = "open"
        # A version of it is in a block, and did what it should.
        MINED = "mined"
        # A version of it is in a block, and was reverted; `reason` says why.
        REVERTED = "reverted"
        # Somebody else's transaction used the nonce.
        LOST = "lost"
        # An empty transaction of ours used the nonce.
        CANCELLED = "cancelled"

    # None is a gap that was filled.
    deployment = models.ForeignKey(Deployment, on_delete=models.PROTECT, null=True, blank=True, related_name="tries")
    wallet = models.ForeignKey(DeployWallet, on_delete=models.PROTECT, related_name="tries", db_index=False)
    nonce = models.BigIntegerField()
    state = models.CharField(max_length=16, choices=State, default=State.OPEN)
    reason = models.TextField(blank=True)
    # The version that was mined, where, and what it cost: gas, and wei for each. Of a lost one, the newest block as of
    # which the nonce was seen used.
    tx_hash = models.CharField(max_length=HASH_LENGTH, blank=True)
    block_number = models.BigIntegerField(null=True, blank=True)
    block_hash = models.CharField(max_length=HASH_LENGTH, blank=True)
    gas_used = models.BigIntegerField(null=True, blank=True)
    gas_price = models.BigIntegerField(null=True, blank=True)
    # Since when the chain counts the nonce as used and no receipt of ours is found.
    missing_since = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(auto_now=True)
    # When its block was too deep to be dropped.
    final_at = models.DateTimeField(null=True, blank=True)

    objects = DeployAttemptQuerySet.as_manager()

    class Meta:
        constraints = [
            # One use of a nonce, whatever crashes.
            models.UniqueConstraint(fields=["wallet", "nonce"], name="deploy_attempt_nonce_once"),
            models.CheckConstraint(
                name="deploy_attempt_state_known",
                condition=Q(state__in=["open", "mined", "reverted", "lost", "cancelled"]),
            ),
        ]
        indexes = [
            # What is looked after until it is final.
            models.Index(
                fields=["wallet", "nonce"], name="deploy_attempt_in_flight", condition=Q(final_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"nonce {self.nonce} of wallet {self.wallet_id}: {self.state}"


class SignedTransaction(models.Model):
    """The bytes of one signed version of an attempt, stored before anybody else sees them."""

    class Purpose(models.TextChoices):
        DEPLOY = "deploy"
        # Sends nothing to the wallet itself: all that it does is to use up the nonce.
        CANCEL = "cancel"

    attempt = models.ForeignKey(DeployAttempt, on_delete=models.PROTECT, related_name="versions")
    purpose = models.CharField(max_length=16, choices=Purpose, default=Purpose.DEPLOY)
    tx_hash = models.CharField(max_length=HASH_LENGTH)
    raw = models.BinaryField()
    # Wei for each gas.
    max_fee = models.BigIntegerField()
    priority_fee = models.BigIntegerField()
    signed_at = models.DateTimeField(default=timezone.now)
    # When it was last handed to a node, and what the node said to it.
    sent_at = models.DateTimeField(null=True, blank=True)
    answer = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tx_hash"], name="signed_transaction_once")]

    def __str__(self) -> str:
        return self.tx_hash


class DeploySwitch(models.Model):
    """Whether deployments go on, chain by chain: a row where they are paused, or were."""

    chain_id = models.BigIntegerField(primary_key=True)
    paused = models.BooleanField(default=False, help_text="New deployments are refused, and none is signed.")
    reason = models.CharField(max_length=200, blank=True, help_text="For your colleagues; partners don't see it.")

    class Meta:
        verbose_name_plural = "deploy switches"

    def __str__(self) -> str:
        return f"chain {self.chain_id}: {'paused' if self.paused else 'on'}"


class DeployQuota(models.Model):
    """How many deployments of one partner key are taken on one chain in a day (UTC)."""

    partner_key = models.ForeignKey(PartnerKey, on_delete=models.CASCADE, related_name="deploy_quotas", db_index=False)
    chain_id = models.BigIntegerField()
    per_day = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["partner_key", "chain_id"], name="deploy_quota_once")]

    def __str__(self) -> str:
        return f"{self.per_day} a day on {self.chain_id}"


class AirdropTree(models.Model):
    """The Merkle tree of a deployment's airdrop, from which claims get their proofs."""

    deployment = models.OneToOneField(Deployment, on_delete=models.CASCADE, related_name="airdrop")
    root = models.CharField(max_length=HASH_LENGTH)
    # Wei, of all entries together.
    amount = models.DecimalField(max_digits=78, decimal_places=0)
    # The nodes, 32 bytes each, from the root on, as OpenZeppelin's StandardMerkleTree lays them out. Stored without
    # compression, so that a proof reads a few of them and not all.
    nodes = models.BinaryField()

    def __str__(self) -> str:
        return self.root


class AirdropEntry(models.Model):
    """What one account may claim of an airdrop."""

    tree = models.ForeignKey(AirdropTree, on_delete=models.CASCADE, related_name="entries", db_index=False)
    account = models.CharField(max_length=ADDRESS_LENGTH)
    # Wei.
    amount = models.DecimalField(max_digits=78, decimal_places=0)
    # Where its leaf is in the tree's nodes.
    position = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tree", "account"], name="airdrop_entry_once")]

    def __str__(self) -> str:
        return f"{self.amount} for {self.account}"
