"""Upload storages, each behind a circuit breaker: the configured one, and those that hold earlier uploads."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from django.conf import settings

from config.environment.upload_variables import CALL_SETTINGS
from config.http.circuit_breaker import CircuitBreaker
from config.http.errors import PermanentError, RetryableError
from tokens.models import StorageKind, Upload, UploadKind
from tokens.models.upload import file_name, media_type
from tokens.uploads import directory_storage, pinning_storage, s3_storage

logger = logging.getLogger(__name__)

# For this process only. A hanging storage costs each upload its timeout, until the circuit opens.
BREAKERS = {kind: CircuitBreaker() for kind in StorageKind}


class UploadsOffError(PermanentError):
    """This installation takes no uploads."""


class StorageUnavailableError(RetryableError):
    """The storage failed, or did within the last seconds; nothing was stored."""


def chosen_storage() -> StorageKind:
    """Return the storage for new uploads. Raises UploadsOffError."""
    if settings.UPLOAD_STORAGE not in StorageKind.values:
        raise UploadsOffError("Uploads are off on this installation")
    return StorageKind(settings.UPLOAD_STORAGE)


def store_content(content: bytes, *, digest: str, kind: UploadKind, storage: StorageKind) -> str:
    """Store a file, whole or not at all, and return its URL. Raises StorageUnavailableError."""
    name = file_name(digest, kind)
    with _guarded(storage):
        match storage:
            case StorageKind.DIRECTORY:
                return directory_storage.store_in_directory(name, content)
            case StorageKind.S3:
                return s3_storage.put_object(name, content, media_type=media_type(kind))
            case StorageKind.PINNING:
                return pinning_storage.pin_content(name, content, media_type=media_type(kind))
    assert_never(storage)


def is_lost(upload: Upload) -> bool:
    """Return whether an upload's file is missing, as after a restore; only directories are checked."""
    return upload.storage == StorageKind.DIRECTORY and not directory_storage.is_in_directory(upload.file_name)


def remove_content(upload: Upload) -> None:
    """Delete an upload's file, if there is one. Raises StorageUnavailableError.

    On IPFS only the pin is removed: copies on other nodes stay.
    """
    with _guarded(upload.kept_in):
        match upload.kept_in:
            case StorageKind.DIRECTORY:
                directory_storage.remove_from_directory(upload.file_name)
            case StorageKind.S3:
                s3_storage.delete_object(upload.file_name)
            case StorageKind.PINNING:
                pinning_storage.unpin(upload.url)


def probe_storage(storage: StorageKind) -> None:
    """Write a probe file and remove it. Raises OSError, RetryableError, PermanentError."""
    _require_settings(storage)
    match storage:
        case StorageKind.DIRECTORY:
            directory_storage.probe_directory()
        case StorageKind.S3:
            s3_storage.probe_bucket()
        case StorageKind.PINNING:
            pinning_storage.probe_pinning()


@contextmanager
def _guarded(storage: StorageKind) -> Iterator[None]:
    """Call a storage unless its circuit is open, and translate its errors."""
    breaker = BREAKERS[storage]
    if not breaker.claim_call():
        raise StorageUnavailableError("the circuit breaker is open")
    try:
        _require_settings(storage)
        yield
    except (OSError, RetryableError, PermanentError) as error:
        breaker.record_failure()
        # Permanent errors, too: an operator must act on a refusal, such as an expired key.
        logger.error("the storage of uploads (%s) failed: %s", storage.value, error)
        raise StorageUnavailableError(str(error)) from error
    breaker.record_success()


def _require_settings(storage: StorageKind) -> None:
    """Raise PermanentError if an earlier uploads' storage can't be called, because its settings were removed."""
    missing = [name for name in CALL_SETTINGS.get(storage, ()) if not getattr(settings, name)]
    if missing:
        raise PermanentError(f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not set")
