"""Partners' uploads: pictures and metadata documents, stored by the digest of their bytes."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import PartnerKey

_MAX_URL = 2_048


class UploadKind(models.TextChoices):
    """Upload kinds."""

    PICTURE = "picture"
    METADATA = "metadata"


class StorageKind(models.TextChoices):
    """Where an upload is stored; it stays the same when the setting changes."""

    DIRECTORY = "directory"
    S3 = "s3", "S3"
    PINNING = "pinning"


# Kind -> file name suffix, and media type.
_FORMS = {UploadKind.PICTURE: ("webp", "image/webp"), UploadKind.METADATA: ("json", "application/json")}


class Upload(models.Model):
    """One stored file, by the partner that uploaded it first. It has no end: launched tokens have its URL."""

    partner_key = models.ForeignKey(PartnerKey, on_delete=models.PROTECT, related_name="uploads", db_index=False)
    # SHA-256 of the stored bytes in hex.
    digest = models.CharField(max_length=64)
    kind = models.CharField(max_length=8, choices=UploadKind.choices)
    storage = models.CharField(max_length=9, choices=StorageKind.choices)
    # Bytes.
    size = models.PositiveIntegerField()
    url = models.CharField(max_length=_MAX_URL)
    created_at = models.DateTimeField(default=timezone.now)
    # Set by operators: the file is deleted, and the same bytes are refused.
    blocked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(name="upload_once", fields=["digest"]),
            models.CheckConstraint(name="upload_digest_form", condition=Q(digest__regex="^[0-9a-f]{64}$")),
            models.CheckConstraint(name="upload_kind_known", condition=Q(kind__in=UploadKind.values)),
            models.CheckConstraint(name="upload_storage_known", condition=Q(storage__in=StorageKind.values)),
        ]
        indexes = [
            # How many bytes a partner uploaded in a day.
            models.Index(name="upload_quota", fields=["partner_key", "created_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.digest[:12]}"

    @property
    def kept_in(self) -> StorageKind:
        """Return the storage."""
        return StorageKind(self.storage)

    @property
    def file_name(self) -> str:
        """Return the stored file's name."""
        return file_name(self.digest, UploadKind(self.kind))

    @property
    def media_type(self) -> str:
        """Return the media type of the stored bytes."""
        return media_type(UploadKind(self.kind))


def file_name(digest: str, kind: UploadKind) -> str:
    """Return a stored file's name: the digest, and its kind's suffix."""
    return f"{digest}.{_FORMS[kind][0]}"


def media_type(kind: UploadKind) -> str:
    """Return an upload kind's media type."""
    return _FORMS[kind][1]
