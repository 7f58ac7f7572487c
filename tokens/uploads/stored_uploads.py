"""Accepting uploads: encoding, the daily byte quota, and one row for each stored file.

A file is stored before its row: a crash between the two leaves a file that nothing serves, and a repeated request has
the same digest, so that it completes the upload.
"""

import hashlib
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.utils import timezone

from accounts.models import PartnerKey
from config.http.errors import PermanentError, RetryableError
from config.picture_decoding import EncodedPicture, encode_whole
from config.processes.concurrency_limits import document_slot, picture_slot
from tokens.models import Upload, UploadKind
from tokens.uploads.metadata_documents import encode_document
from tokens.uploads.upload_storage import (
    StorageUnavailableError,
    chosen_storage,
    is_lost,
    remove_content,
    store_content,
)

logger = logging.getLogger(__name__)

# The most pixels a side for a stored picture.
LONGEST_SIDE = 1_024


class UploadBlockedError(PermanentError):
    """An operator has blocked these bytes."""


class UploadQuotaError(RetryableError):
    """The key's daily bytes are used up; `wait` is in seconds until the next day."""

    def __init__(self, wait: float) -> None:
        quota = f"A key may upload {settings.UPLOAD_DAILY_BYTES} bytes of new files a day in UTC"
        super().__init__(f"{quota}, and this one would exceed them")
        self.wait = wait


@dataclass(frozen=True, kw_only=True)
class UploadedPicture:
    """A stored picture and its size in pixels."""

    upload: Upload
    picture: EncodedPicture


def save_picture(content: bytes, *, partner: PartnerKey) -> UploadedPicture:
    """Encode a picture anew and store it; the same pixels are stored once, whichever partner sends them.

    Raises UnusablePictureError, and as `save_metadata` does.
    """
    with picture_slot():
        picture = encode_whole(content, longest=LONGEST_SIDE)
        upload = _save(picture.content, kind=UploadKind.PICTURE, partner=partner)
    return UploadedPicture(upload=upload, picture=picture)


def save_metadata(body: Any, *, partner: PartnerKey) -> Upload:
    """Validate a metadata document and store it.

    Raises InvalidFieldsError, UploadBlockedError, UploadQuotaError, StorageUnavailableError, UploadsOffError.
    """
    content = encode_document(body)
    with document_slot():
        return _save(content, kind=UploadKind.METADATA, partner=partner)


def block_uploads(uploads: Iterable[Upload]) -> list[Upload]:
    """Block uploads and delete their files; return the uploads whose files could not be deleted.

    The rows are blocked first, so that this service no longer serves the files, even if deletion fails.
    """
    blocked = list(uploads)
    Upload.objects.filter(pk__in=[upload.pk for upload in blocked], blocked_at=None).update(blocked_at=timezone.now())
    undeleted = []
    for upload in blocked:
        try:
            remove_content(upload)
        except StorageUnavailableError:
            undeleted.append(upload)
    return undeleted


def allow_uploads(uploads: Iterable[Upload]) -> None:
    """Delete blocked uploads' rows: their bytes may then be uploaded again."""
    Upload.objects.filter(pk__in=[upload.pk for upload in uploads]).exclude(blocked_at=None).delete()


def _save(content: bytes, *, kind: UploadKind, partner: PartnerKey) -> Upload:
    storage, digest = chosen_storage(), hashlib.sha256(content).hexdigest()
    stored = Upload.objects.filter(digest=digest).first()
    if stored is not None and stored.blocked_at is not None:
        raise UploadBlockedError("This content was blocked by the operator")
    if stored is not None and not is_lost(stored):
        return stored
    if stored is None:
        _check_quota(partner, more=len(content))
    url = store_content(content, digest=digest, kind=kind, storage=storage if stored is None else stored.kept_in)
    if stored is not None:
        logger.warning("stored again, because its file was missing: %s", stored)
        return stored
    row = Upload(partner_key=partner, digest=digest, kind=kind, storage=storage, size=len(content), url=url)
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        # A concurrent request has stored the same bytes.
        return Upload.objects.get(digest=digest)
    return row


def _check_quota(partner: PartnerKey, *, more: int) -> None:
    """Raise UploadQuotaError above the daily bytes; concurrent requests may exceed them by an upload each."""
    allowed, now = settings.UPLOAD_DAILY_BYTES, timezone.now()
    if not allowed:
        return
    begin = datetime.combine(now.astimezone(UTC).date(), time.min, tzinfo=UTC)
    # The index upload_quota serves this query.
    own = Upload.objects.filter(partner_key=partner, created_at__gte=begin)
    if (own.aggregate(sum=Sum("size"))["sum"] or 0) + more > allowed:
        raise UploadQuotaError((begin + timedelta(days=1) - now).total_seconds())
