"""Users, identified by trusted issuers' tokens, and API administrators with their sessions."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

# Limits for values from tokens and from operators.
MAX_ISSUER = 200
MAX_SUBJECT = 255


class SubjectKind(models.TextChoices):
    """Kind of subject in an issuer's tokens."""

    FID = "fid", "FID"
    ID = "id", "id"


class Person(models.Model):
    """A user: a FID or an issuer's subject, created by its first token. Rows that users create refer to it.

    A subject whose token contains its FID is linked to the FID's person, and both then share their rows. The link
    is valid as long as that token proves it, until a newer token links the subject or the FID elsewhere.
    """

    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # Written at most once a minute.
    last_seen_at = models.DateTimeField(default=timezone.now, editable=False)
    # The number in the social protocol; None for a subject.
    fid = models.BigIntegerField(null=True, blank=True)
    # Its index serves each request by a FID, which reads the linked subject too.
    linked_to = models.OneToOneField("self", on_delete=models.PROTECT, null=True, blank=True, related_name="linked")
    linked_until = models.DateTimeField(null=True, blank=True)
    # When the newest token with a FID claim about this person was issued. Older tokens' claims are outdated.
    told_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "user"
        constraints = [
            models.UniqueConstraint(name="person_fid_unique", fields=["fid"]),
            models.CheckConstraint(name="person_fid_positive", condition=Q(fid__isnull=True) | Q(fid__gt=0)),
            # No chain has more than one link.
            models.CheckConstraint(
                name="person_linked_has_no_fid", condition=Q(linked_to__isnull=True) | Q(fid__isnull=True)
            ),
            models.CheckConstraint(
                name="person_link_ends",
                condition=Q(linked_to__isnull=True, linked_until__isnull=True)
                | Q(linked_to__isnull=False, linked_until__isnull=False, told_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"user {self.pk}" if self.fid is None else f"user {self.pk}, FID {self.fid}"


class Identity(models.Model):
    """An issuer's subject and its person. The first token creates the row."""

    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=MAX_ISSUER)
    # For a FID, its decimal digits.
    subject = models.CharField(max_length=MAX_SUBJECT)
    kind = models.CharField(max_length=8, choices=SubjectKind.choices)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "identities"
        constraints = [
            # Its index serves each user request. The kind is the issuer's setting, which may change: an id in
            # digits is not a FID.
            models.UniqueConstraint(name="identity_unique", fields=["issuer", "subject", "kind"]),
            models.CheckConstraint(name="identity_kind_known", condition=Q(kind__in=SubjectKind.values)),
        ]

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer}"


class SignInNonce(models.Model):
    """Nonce for one sign-in with a wallet, until it is used or expires. Without its row, its message is refused."""

    nonce = models.CharField(max_length=32, primary_key=True)
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [
            # Serves pruning by expiry.
            models.Index(name="sign_in_nonce_expiry", fields=["expires_at"]),
        ]

    def __str__(self) -> str:
        return self.nonce


class Administrator(models.Model):
    """An administrator: the holder of tokens with this issuer and subject."""

    name = models.CharField(max_length=100, help_text="Who this is.")
    issuer = models.CharField(max_length=MAX_ISSUER, help_text="What the issuer's tokens have as iss.")
    subject = models.CharField(
        max_length=MAX_SUBJECT, help_text="What the person's tokens have as sub; of the social protocol the FID."
    )
    added_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        # No index for the sort: an installation has dozens.
        ordering = ["name", "id"]
        constraints = [
            # Its index serves each request with a token that may be an administrator's.
            models.UniqueConstraint(
                name="administrator_issuer_subject_unique",
                fields=["issuer", "subject"],
                violation_error_message="This person is an administrator already.",
            ),
            models.CheckConstraint(
                name="administrator_name_not_blank",
                condition=Q(name__regex=r"\S"),
                violation_error_message="The name must not be blank.",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AdminSessionQuerySet(models.QuerySet["AdminSession"]):
    def revoke(self) -> int:
        """Revoke the sessions that are not revoked yet, and return their number."""
        return self.filter(revoked_at__isnull=True).update(revoked_at=timezone.now())


class AdminSession(models.Model):
    """Session behind a cookie `admin_session`, held by a staff account or an administrator.

    It is invalid once the account or administrator is gone, or the account's password has changed. It is revoked
    when the account sets up a second factor, or the administrator becomes another identity.
    """

    # The cookie token's SHA-256 in lower-case hex. The token, 256 random bits, is not stored.
    digest = models.CharField(max_length=64)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+")
    # The account password's HMAC, as in Django's own sessions.
    password_hash = models.CharField(max_length=64, blank=True)
    administrator = models.ForeignKey(Administrator, on_delete=models.CASCADE, null=True, related_name="sessions")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    objects = AdminSessionQuerySet.as_manager()

    class Meta:
        verbose_name = "administrator session"
        constraints = [
            # Its index serves each request with a cookie.
            models.UniqueConstraint(name="admin_session_digest_unique", fields=["digest"]),
            models.CheckConstraint(name="admin_session_digest_form", condition=Q(digest__regex="^[0-9a-f]{64}$")),
            models.CheckConstraint(
                name="admin_session_of_one",
                condition=Q(user__isnull=True, administrator__isnull=False, password_hash="")
                | (Q(user__isnull=False, administrator__isnull=True) & ~Q(password_hash="")),
            ),
        ]
        indexes = [
            # Serves pruning by expiry.
            models.Index(name="admin_session_expiry", fields=["expires_at"]),
        ]

    def __str__(self) -> str:
        return f"session of {self.user or self.administrator}"
