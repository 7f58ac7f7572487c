"""Small files that only this user can read: secrets that the bundled default makes and keeps."""

import os
import secrets
from pathlib import Path


def read(path: Path) -> str:
    """The file's text without surrounding blanks, or an empty text where there is no file."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def keep(path: Path, fresh: str) -> str:
    """The file's text; `fresh` becomes it where there is no file. Of several processes at once, one wins."""
    if not path.exists():
        draft = _write_draft(path, fresh)
        try:
            # A link fails where another process was first, and never shows half a secret.
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return read(path)


def replace(path: Path, text: str) -> None:
    """Make this the file's text."""
    _write_draft(path, text).replace(path)


def _write_draft(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text + "\n")
    return draft
