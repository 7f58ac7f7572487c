"""Files that are written whole or not at all, for readers in other processes."""

import os
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

# Prefix for temporary files; a killed process's files stay.
TEMPORARY_PREFIX = "new-"
# Other processes may have another user.
_MODE = 0o644


def write_file(path: Path, body: bytes, *, durable: bool = False) -> None:
    """Write a file, whole or not at all, and make its directory. Raises OSError, for a full disk too.

    A `durable` file survives a power failure after the return: file and directory are flushed to disk.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=TEMPORARY_PREFIX, delete=False) as file:
        try:
            file.write(body)
            file.flush()
            os.chmod(file.name, _MODE)
            if durable:
                os.fsync(file.fileno())
            os.replace(file.name, path)
        except OSError:
            with suppress(OSError):
                os.unlink(file.name)
            raise
    if durable:
        _flush_directory(path.parent)


def _flush_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
