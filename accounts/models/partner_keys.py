"""Partner keys: their secrets, scopes, limits and usage."""

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

MAX_CALLS_PER_MINUTE = 1_000_000


class Scope(models.TextChoices):
    """Permission of a partner key."""

    READ = "read"
    INDEX = "index"
    DEPLOY = "deploy"
    # To report agents' actions.
    AGENTS = "agents"
    # To report scores for any account on the social protocol.
    SCORES = "scores"
    # To manage webhook endpoints.
    WEBHOOKS = "webhooks"


class KeyState(models.TextChoices):
    """Partner key state; a key that is both revoked and expired counts as revoked."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


class PartnerKeyQuerySet(models.QuerySet["PartnerKey"]):
    def in_state(self, state: KeyState) -> "PartnerKeyQuerySet":
        """Return the keys that are in this state now."""
        is_expired = Q(expires_at__isnull=False, expires_at__lte=timezone.now())
        if state == KeyState.REVOKED:
            return self.filter(revoked_at__isnull=False)
        return self.filter(is_expired if state == KeyState.EXPIRED else ~is_expired, revoked_at__isnull=True)


class PartnerKey(models.Model):
    """A partner's permission to call. It survives secret rotations, so that other rows can refer to it."""

    name = models.CharField(max_length=100, help_text="Whose key this is, and for what.")
    scopes = ArrayField(models.CharField(max_length=16, choices=Scope.choices))
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="From then on the key is refused.")
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    calls_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MaxValueValidator(MAX_CALLS_PER_MINUTE)],
        help_text="How many calls pass in a minute, 0 for any number; empty for the limit that all keys have.",
    )
    # Written at most once a minute: it shows whether the key is in use, and does not count calls.
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = PartnerKeyQuerySet.as_manager()

    class Meta:
        # No index beside the primary key: only the admin lists keys, and an installation has hundreds at most.
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                name="partner_key_scopes_known",
                condition=Q(scopes__contained_by=Scope.values, scopes__len__gte=1),
                violation_error_message=f"Scopes must be one or more of {', '.join(Scope.values)}.",
            ),
            models.CheckConstraint(
                name="partner_key_name_not_blank",
                condition=Q(name__regex=r"\S"),
                violation_error_message="The name must not be blank.",
            ),
            models.CheckConstraint(
                name="partner_key_calls_per_minute_range",
                condition=Q(calls_per_minute__isnull=True) | Q(calls_per_minute__range=(0, MAX_CALLS_PER_MINUTE)),
                violation_error_message=f"Calls per minute must be from 0 to {MAX_CALLS_PER_MINUTE}.",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> KeyState:
        """Return the state at this moment; only an active key is accepted."""
        if self.revoked_at is not None:
            return KeyState.REVOKED
        if self.expires_at is not None and self.expires_at <= timezone.now():
            return KeyState.EXPIRED
        return KeyState.ACTIVE


class PartnerKeySecret(models.Model):
    """One partner key secret: the whole key text's digest, found by the public id in that text."""

    partner_key = models.ForeignKey(PartnerKey, on_delete=models.CASCADE, related_name="secrets", db_index=False)
    key_id = models.CharField(max_length=8)
    # The key text's HMAC-SHA256 in lower-case hex. The text itself is not stored.
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now)
    # Set by the rotation that retires this secret.
    expires_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # Its index serves the one query in every authenticated request: the secret with this id.
            models.UniqueConstraint(name="partner_key_secret_key_id_unique", fields=["key_id"]),
            models.CheckConstraint(
                name="partner_key_secret_key_id_form", condition=Q(key_id__regex="^[0-9A-Za-z]{8}$")
            ),
            # Guards against storing a key instead of its digest.
            models.CheckConstraint(name="partner_key_secret_digest_form", condition=Q(digest__regex="^[0-9a-f]{64}$")),
        ]
        indexes = [
            # Serves rotation (a key's newest secrets) and the admin's list (the secrets for a page of keys).
            models.Index(name="partner_key_secret_newest", fields=["partner_key", "-id"]),
        ]

    def __str__(self) -> str:
        return self.key_id

    @property
    def is_current(self) -> bool:
        """Return whether no rotation has retired this secret yet."""
        return self.expires_at is None or self.expires_at > timezone.now()


class KeyUsage(models.Model):
    """Number of calls with a partner key on one day (UTC) to one endpoint, whatever the response."""

    partner_key = models.ForeignKey(PartnerKey, on_delete=models.CASCADE, related_name="usage", db_index=False)
    day = models.DateField()
    # The route's name.
    endpoint = models.TextField()
    calls = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            # Target of the upsert that adds counts; its index serves a key's days.
            models.UniqueConstraint(name="key_usage_once", fields=["partner_key", "day", "endpoint"]),
        ]
        indexes = [
            # Serves all keys' calls since a day, and pruning.
            models.Index(name="key_usage_day", fields=["day"]),
        ]

    def __str__(self) -> str:
        return f"{self.calls} calls of {self.endpoint} on {self.day}"


class UsageBatch(models.Model):
    """A batch of calls that KeyUsage already contains: a second attempt to add it does nothing."""

    # The batch's name in Redis.
    name = models.CharField(max_length=32, primary_key=True)
    added_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.name
