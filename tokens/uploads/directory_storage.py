"""Uploads as files below UPLOAD_DIR, named by their digest and served by this service."""

from pathlib import Path

from django.conf import settings

from config.stored_files import write_file

_PROBE = "probe"


def store_in_directory(name: str, content: bytes) -> str:
    """Store a file, whole or not at all, and return its URL. Raises OSError."""
    write_file(_path(name), content, durable=True)
    return f"{settings.UPLOAD_PUBLIC_URL or f'{settings.SITE_URL}/uploads'}/{name}"


def is_in_directory(name: str) -> bool:
    """Return whether a file is stored."""
    return _path(name).is_file()


def read_from_directory(name: str) -> bytes | None:
    """Return a stored file; None if there is none. Raises OSError if it can't be read."""
    try:
        return _path(name).read_bytes()
    except FileNotFoundError:
        return None


def remove_from_directory(name: str) -> None:
    """Remove a stored file, if there is one. Raises OSError."""
    _path(name).unlink(missing_ok=True)


def probe_directory() -> None:
    """Write a file and remove it. Raises OSError."""
    path = Path(settings.UPLOAD_DIR) / _PROBE
    write_file(path, b"")
    path.unlink(missing_ok=True)


def _path(name: str) -> Path:
    # Few files in each directory; names begin with hex digits.
    return Path(settings.UPLOAD_DIR) / name[:2] / name
