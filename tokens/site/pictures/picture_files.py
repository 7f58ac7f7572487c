"""Encoded picture files below SITE_PICTURE_DIR, named by their key; the oldest ones are removed."""

import logging
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from config.stored_files import write_file

logger = logging.getLogger(__name__)

# Pruning leaves this part of the limit, so that it has an effect for a while.
_KEPT = 0.9
# Temporary files from killed processes are removed after this age, in seconds.
_ABANDONED_SECONDS = 600


def read_picture(key: str) -> bytes | None:
    """Return a stored picture; None if there is none, or if it can't be read."""
    try:
        return _path(key).read_bytes()
    except OSError:
        return None


def store_picture(key: str, body: bytes) -> None:
    """Store a picture, whole or not at all. Raises OSError, for a full disk too."""
    write_file(_path(key), body)


def remove_picture(key: str) -> None:
    """Remove a stored picture, if there is one; log an error if it can't be removed."""
    try:
        _path(key).unlink(missing_ok=True)
    except OSError as error:
        logger.error("picture %s can't be removed from SITE_PICTURE_DIR: %s", key, error)


def prune_pictures(max_bytes: int) -> int:
    """Remove the oldest pictures if all take more than `max_bytes` on disk. Return how many were removed."""
    files = sorted(_stored(), key=lambda entry: entry[0])
    total, removed = sum(size for _, size, _ in files), 0
    if total <= max_bytes:
        return 0
    for _, size, path in files:
        if total <= max_bytes * _KEPT:
            break
        with suppress(OSError):
            path.unlink()
            total, removed = total - size, removed + 1
    logger.info("removed %s of %s stored pictures", removed, len(files))
    return removed


def _path(key: str) -> Path:
    # Few files in each directory; keys are hex digits.
    return Path(settings.SITE_PICTURE_DIR) / key[:2] / f"{key}.webp"


def _stored() -> Iterator[tuple[float, int, Path]]:
    """Yield time, bytes on disk and path of each file; abandoned temporary files are removed."""
    for path in Path(settings.SITE_PICTURE_DIR).glob("??/*"):
        with suppress(OSError):
            status = path.stat()
            if path.suffix == ".webp":
                yield status.st_mtime, max(status.st_size, 512 * status.st_blocks), path
            elif time.time() - status.st_mtime > _ABANDONED_SECONDS:
                path.unlink()
