"""Small files that only this user can read: a local installation's generated secrets."""

import os
import secrets
from pathlib import Path


def read(path: Path) -> str:
    """Return the file's text without surrounding white space; "" if the file is missing."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def read_or_create(path: Path, fresh: str) -> str:
    """Return the file's text, creating it from `fresh` if it is missing; one process wins if several create it."""
    if not path.exists():
        draft = _write_draft(path, fresh)
        try:
            # A link fails if another process was first, and never exposes a partial secret.
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return read(path)


def replace(path: Path, text: str) -> None:
    """Replace the file's text atomically."""
    _write_draft(path, text).replace(path)


def _write_draft(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text + "\n")
    return draft
