"""Deployment models: launch requests, sending wallets, attempts with their nonces, signed transactions."""

from datetime import datetime
from typing import Any, Self

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Count, F, Func, Min, Q, Value
from django.db.models.lookups import Exact
from django.utils import timezone

from accounts.models import PartnerKey
from config.postgresql.leased_queue import QueueSize
from tokens.models.token import ADDRESS_LENGTH, Token

# 0x and 64 hex digits, as in hashes and salts.
HASH_LENGTH = 66


class DeploymentStatus(models.TextChoices):
    """Deployment states."""

    # Stored; no transaction is signed, or no signed one can be mined any more.
    ENQUEUED = "enqueued"
    # Signed, with a nonce; in flight until there is a receipt.
    SUBMITTED = "submitted"
    # In a block. A presale keeps this status until its sale ends in a launch.
    MINED = "mined"
    # Its token is indexed and listed.
    INDEXED = "indexed"
    # Given up for the reason in `error`; an operator can retry it.
    FAILED = "failed"


class DeploymentQuerySet(models.QuerySet["Deployment"]):
    """Queries for deployments by their pending work."""

    def update_and_touch(self, **changes: Any) -> int:
        """Update rows and their time stamp; return the row count, which is 0 if a guarding filter no longer holds.

        A trigger stores an event for the status submitted, indexed or failed (`deployment_events.sql`).
        """
        return self.update(updated_at=timezone.now(), **changes)

    def locked(self, deployment_id: int) -> "Deployment | None":
        """Return the deployment with its row locked for this transaction; referring rows can still be written.

        It is locked before any wallet's or attempt's row, which prevents deadlocks.
        """
        return self.select_for_update(no_key=True, of=("self",)).filter(pk=deployment_id).first()

    def enqueued(self, chain_id: int) -> Self:
        """Return the deployments to be signed, oldest first."""
        return self.filter(chain_id=chain_id, status="enqueued").order_by("pk")

    def measure(self, now: datetime) -> QueueSize:
        """Return how many deployments are to be signed, and since when the oldest is."""
        return QueueSize(**self.filter(status="enqueued").aggregate(depth=Count("pk"), since=Min("created_at")))

    def awaiting_indexing(self, chain_id: int) -> Self:
        """Return the mined deployments without an indexed token, oldest first."""
        return self.filter(chain_id=chain_id, status="mined", final_at__isnull=True).order_by("pk")


class Deployment(models.Model):
    """A stored order to launch a token, unique by the partner's request key: it is executed exactly once."""

    # Not a leased queue: its rows are locked until nonce, signed bytes and state are stored in one transaction.
    QUEUE = "deployments"

    # None for an operator's own deployment.
    partner_key = models.ForeignKey(PartnerKey, on_delete=models.PROTECT, null=True, blank=True, db_index=False)
    request_key = models.CharField(max_length=32)
    # Hex SHA-256 of the body in canonical JSON: the same key with another body is rejected.
    body_digest = models.CharField(max_length=64)
    chain_id = models.BigIntegerField()
    # The configuration with all defaults, as responses show it; airdrop entries have their own rows.
    config = models.JSONField()
    salt = models.CharField(max_length=HASH_LENGTH)
    # The simulated and signed call: contract, calldata, wei of the native coin, and the gas limit with its reserve.
    to_address = models.CharField(max_length=ADDRESS_LENGTH)
    calldata = models.BinaryField()
    value = models.DecimalField(max_digits=78, decimal_places=0)
    gas = models.BigIntegerField()
    # The token's future address; empty for a presale, whose launch has its own salt.
    expected_address = models.CharField(max_length=ADDRESS_LENGTH, blank=True)
    # The presale's id, set when its transaction is mined.
    presale_id = models.DecimalField(max_digits=78, decimal_places=0, null=True, blank=True)

    status = models.CharField(max_length=16, choices=DeploymentStatus, default=DeploymentStatus.ENQUEUED)
    # The last error in words for the partner; empty if there is none.
    error = models.TextField(blank=True)
    # How many nonces were assigned to it.
    attempts = models.PositiveIntegerField(default=0)
    # The transaction that executed it, or the newest version in flight.
    tx_hash = models.CharField(max_length=HASH_LENGTH, blank=True)
    token = models.ForeignKey(Token, on_delete=models.SET_NULL, null=True, blank=True, db_index=False)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(auto_now=True)
    # When its block reached finality depth; after that it is no longer watched.
    final_at = models.DateTimeField(null=True, blank=True)

    objects = DeploymentQuerySet.as_manager()

    class Meta:
        constraints = [
            # Exactly once: a concurrent duplicate finds the existing row.
            models.UniqueConstraint(
                name="deployment_once", fields=["partner_key", "request_key"], nulls_distinct=False
            ),
            models.CheckConstraint(
                name="deployment_status_known",
                condition=Q(status__in=["enqueued", "submitted", "mined", "indexed", "failed"]),
            ),
        ]
        indexes = [
            # Deployments that are to be signed, oldest first.
            models.Index(fields=["chain_id", "id"], name="deployment_enqueued", condition=Q(status="enqueued")),
            # Deployments that are watched until they are final.
            models.Index(
                fields=["chain_id", "status"],
                name="deployment_in_flight",
                condition=Q(final_at__isnull=True) & ~Q(status="enqueued"),
            ),
            # Recent failures, for the dashboard and the metrics.
            models.Index(fields=["updated_at"], name="deployment_failed", condition=Q(status="failed")),
            # A partner's deployments on a chain within a day, for quotas.
            models.Index(fields=["partner_key", "chain_id", "created_at"], name="deployment_quota"),
            # All partners' dev buys on a chain within a day, for spending limits.
            models.Index(fields=["chain_id", "created_at"], name="deployment_spending", condition=Q(value__gt=0)),
            # A token's deployment, for airdrop claims and the admin's links.
            models.Index(fields=["expected_address"], name="deployment_address"),
            models.Index(fields=["presale_id"], name="deployment_presale", condition=Q(presale_id__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.request_key} on {self.chain_id}: {self.status}"


class WalletAlert(models.TextChoices):
    """Wallet alert kinds."""

    # The balance in the native coin is low.
    BALANCE = "balance"
    # The signer does not sign.
    SIGNER = "signer"
    # The fee cap is below the chain's gas price.
    FEES = "fees"
    # A node suggests far more than the others, or the registry's priority fee cap binds.
    TIP = "tip"
    # The account executes a contract's code (EIP-7702), which only its key can have allowed.
    DELEGATION = "delegation"
    # A node rejects a transaction, or another one uses the nonce.
    SENDING = "sending"


# The JSON object without the known kinds.
_OTHER_ALERTS = Func(
    F("alerts"),
    Value(["balance", "signer", "fees", "tip", "delegation", "sending"], ArrayField(models.TextField())),
    template="%(expressions)s",
    arg_joiner=" - ",
    output_field=models.JSONField(),
)


class DeployWallet(models.Model):
    """A wallet that sends deployments on one chain. Only the signer has its key; this row's lock guards its nonces."""

    chain_id = models.BigIntegerField()
    address = models.CharField(max_length=ADDRESS_LENGTH)
    # The lowest nonce not yet assigned, as far as this database shows; the chain's may be higher.
    next_nonce = models.BigIntegerField(default=0)
    # Set by an operator. A disabled wallet gets no more deployments, and those in flight are completed.
    enabled = models.BooleanField(default=True)
    # Whether a signer of this installation has its key at present.
    signable = models.BooleanField(default=False)
    # Wei of the native coin at the last query; None before the first.
    balance = models.DecimalField(max_digits=78, decimal_places=0, null=True, blank=True)
    balance_at = models.DateTimeField(null=True, blank=True)
    # What prevents it from sending: WalletAlert -> a text without URLs.
    alerts = models.JSONField(default=dict, db_default=Value({}, models.JSONField()), blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chain_id", "address"], name="deploy_wallet_once"),
            models.CheckConstraint(
                condition=Exact(_OTHER_ALERTS, Value({}, models.JSONField())), name="deploy_wallet_alerts_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.address} on {self.chain_id}"

    @property
    def alert_lines(self) -> list[str]:
        """Return the alerts for people, each as its kind and text."""
        return [f"{kind}: {text}" for kind, text in sorted(self.alerts.items())]


class AttemptState(models.TextChoices):
    """Attempt states."""

    # No receipt yet.
    OPEN = "open"
    # One version is in a block and succeeded.
    MINED = "mined"
    # One version is in a block and was reverted; the reason is in `reason`.
    REVERTED = "reverted"
    # A transaction from outside used the nonce.
    LOST = "lost"
    # An empty transaction of this service used the nonce.
    CANCELLED = "cancelled"


class DeployAttemptQuerySet(models.QuerySet["DeployAttempt"]):
    """Queries for wallet nonces by their pending work."""

    def update_and_touch(self, **changes: Any) -> int:
        """Update rows and their time stamp; return the row count, which is 0 if a guarding filter no longer holds."""
        return self.update(updated_at=timezone.now(), **changes)

    def in_flight(self, chain_id: int) -> Self:
        """Return the attempts without a receipt."""
        return self.filter(wallet__chain_id=chain_id, state="open", final_at__isnull=True)

    def unsettled(self, chain_id: int) -> Self:
        """Return the attempts that are decided by a block which is not final yet."""
        return self.filter(wallet__chain_id=chain_id, final_at__isnull=True).exclude(state="open")

    def active(self, *deployment_ids: int) -> Self:
        """Return the attempts that execute deployments or may still do so: mined, or in flight and not cancelled."""
        # A cancelled attempt has an empty transaction among its versions.
        return self.filter(deployment_id__in=deployment_ids, state__in=("mined", "open")).exclude(
            state="open", versions__purpose="cancel"
        )


class DeployAttempt(models.Model):
    """A wallet's nonce and its use: a deployment, or a gap that is filled so that later nonces can be mined."""

    # None for a filled gap.
    deployment = models.ForeignKey(Deployment, on_delete=models.PROTECT, null=True, blank=True, related_name="tries")
    wallet = models.ForeignKey(DeployWallet, on_delete=models.PROTECT, related_name="tries", db_index=False)
    nonce = models.BigIntegerField()
    state = models.CharField(max_length=16, choices=AttemptState, default=AttemptState.OPEN)
    reason = models.TextField(blank=True)
    # The mined version, its block, and its cost: gas, and wei per gas. For a lost nonce, the newest block at which it
    # was found used.
    tx_hash = models.CharField(max_length=HASH_LENGTH, blank=True)
    block_number = models.BigIntegerField(null=True, blank=True)
    block_hash = models.CharField(max_length=HASH_LENGTH, blank=True)
    gas_used = models.BigIntegerField(null=True, blank=True)
    gas_price = models.BigIntegerField(null=True, blank=True)
    # Since when the nonce counts as used on the chain without a receipt for any version.
    missing_since = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(auto_now=True)
    # When its block reached finality depth.
    final_at = models.DateTimeField(null=True, blank=True)

    objects = DeployAttemptQuerySet.as_manager()

    class Meta:
        constraints = [
            # A nonce has one use, even after a crash.
            models.UniqueConstraint(fields=["wallet", "nonce"], name="deploy_attempt_nonce_once"),
            models.CheckConstraint(
                name="deploy_attempt_state_known",
                condition=Q(state__in=["open", "mined", "reverted", "lost", "cancelled"]),
            ),
        ]
        indexes = [
            # Attempts that are watched until they are final.
            models.Index(
                fields=["wallet", "nonce"], name="deploy_attempt_in_flight", condition=Q(final_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"nonce {self.nonce} of wallet {self.wallet_id}: {self.state}"


class TransactionPurpose(models.TextChoices):
    """Purposes for which transactions are signed."""

    DEPLOY = "deploy"
    # Sends 0 wei to the wallet itself, which only uses up the nonce.
    CANCEL = "cancel"


class BroadcastErrorCode(models.TextChoices):
    """Why nodes don't accept a signed transaction; BroadcastStatus has the meanings."""

    NONCE_SPENT = "nonce_spent"
    UNDERPRICED = "underpriced"
    FEE_TOO_LOW = "fee_too_low"
    INSUFFICIENT_FUNDS = "insufficient_funds"
    REJECTED = "rejected"
    UNKNOWN = "unknown"


class SignedTransaction(models.Model):
    """An attempt's signed version, whose bytes are stored before they are broadcast."""

    attempt = models.ForeignKey(DeployAttempt, on_delete=models.PROTECT, related_name="versions")
    purpose = models.CharField(max_length=16, choices=TransactionPurpose, default=TransactionPurpose.DEPLOY)
    tx_hash = models.CharField(max_length=HASH_LENGTH)
    raw = models.BinaryField()
    # Wei per gas.
    max_fee = models.BigIntegerField()
    priority_fee = models.BigIntegerField()
    signed_at = models.DateTimeField(default=timezone.now)
    # When it was last broadcast, and the nodes' error with its text; both are empty if a node has accepted it.
    sent_at = models.DateTimeField(null=True, blank=True)
    error_code = models.CharField(max_length=18, choices=BroadcastErrorCode, blank=True, default="", db_default="")
    error = models.TextField(blank=True, db_column="answer")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tx_hash"], name="signed_transaction_once")]

    def __str__(self) -> str:
        return self.tx_hash


class DeploySwitch(models.Model):
    """The pause flag for deployments on a chain: a row exists if they are or were paused."""

    chain_id = models.BigIntegerField(primary_key=True)
    paused = models.BooleanField(default=False, help_text="New deployments are refused, and none is signed.")
    reason = models.CharField(max_length=200, blank=True, help_text="For your colleagues; partners don't see it.")

    class Meta:
        verbose_name_plural = "deploy switches"

    def __str__(self) -> str:
        return f"chain {self.chain_id}: {'paused' if self.paused else 'on'}"


class DeployQuota(models.Model):
    """A partner key's daily deployment limit (UTC) on one chain."""

    partner_key = models.ForeignKey(PartnerKey, on_delete=models.CASCADE, related_name="deploy_quotas", db_index=False)
    chain_id = models.BigIntegerField()
    per_day = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["partner_key", "chain_id"], name="deploy_quota_once")]

    def __str__(self) -> str:
        return f"{self.per_day} a day on {self.chain_id}"


class SpendingLimit(models.Model):
    """The native coins that dev buys on one chain may cost per day (UTC), for one partner key or for all keys together.

    Without both rows a key buys nothing. Operators' own deployments do not count.
    """

    # None for all keys together.
    partner_key = models.ForeignKey(
        PartnerKey, on_delete=models.CASCADE, null=True, blank=True, related_name="spending_limits", db_index=False
    )
    chain_id = models.BigIntegerField()
    eth_per_day = models.DecimalField(max_digits=30, decimal_places=18, validators=[MinValueValidator(0)])

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["partner_key", "chain_id"], name="spending_limit_once", nulls_distinct=False
            ),
            models.CheckConstraint(name="spending_limit_positive", condition=Q(eth_per_day__gte=0)),
        ]

    def __str__(self) -> str:
        owner = "all keys" if self.partner_key is None else self.partner_key
        return f"{self.eth_per_day.normalize():f} ETH a day on {self.chain_id} for {owner}"
