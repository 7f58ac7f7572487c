"""The version before an upgrade: a commit of the history in a directory of its own, with its own requirements."""

import subprocess
import sys
import tarfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from config.environment.variables import BASE_DIR
from tests.chaos.harness import manage

# Version 0.2.0, until it has a tag.
LAST_VERSION = "fab1b19f"
# Exported versions, by commit, with their requirements: the next run finds them.
_EXPORTS = BASE_DIR / ".local" / "former"


class MissingVersionError(Exception):
    """Raised for a commit that the history lacks."""


@dataclass(frozen=True)
class Version:
    """A version of the service: its directory, with its interpreter, and its commit."""

    directory: Path
    commit: str

    def manage(self, environment: Mapping[str, str], *words: str) -> None:
        """Run a command of its manage.py; fail with its errors."""
        manage(environment, *words, directory=self.directory)


def this_version() -> Version:
    """Return the version of this directory, changes that are not committed included."""
    return Version(BASE_DIR, _git("describe", "--always", "--dirty"))


def former_version(ref: str = "") -> Version:
    """Export a commit to its own directory with its requirements; by default that of the last tag.

    They are installed as by `make run`, or are those of this process if both versions have the same. Raises
    MissingVersionError.
    """
    ref = ref or _last_tag() or LAST_VERSION
    try:
        commit = _git("rev-parse", "--verify", "--quiet", "--short", f"{ref}^{{commit}}")
    except subprocess.CalledProcessError as error:
        raise MissingVersionError(
            f"The history lacks {ref}, the version to upgrade from. In a shallow clone: git fetch --unshallow --tags"
        ) from error
    directory = _EXPORTS / commit
    if not directory.exists():
        draft = directory.with_suffix(".draft")
        with tarfile.open(fileobj=BytesIO(_run(BASE_DIR, "git", "archive", commit))) as files:
            files.extractall(draft, filter="data")
        draft.rename(directory)
    if (directory / "requirements.txt").read_bytes() != (BASE_DIR / "requirements.txt").read_bytes():
        _run(directory, "make", f"PYTHON={sys.executable}", ".venv/installed")
    elif not (directory / ".venv").exists():
        (directory / ".venv").symlink_to(sys.prefix)
    return Version(directory, commit)


def _last_tag() -> str:
    """Return the newest tag before this commit, or an empty string."""
    with suppress(subprocess.CalledProcessError):
        return _git("describe", "--tags", "--abbrev=0", "HEAD^")
    return ""


def _git(*words: str) -> str:
    return _run(BASE_DIR, "git", *words).decode().strip()


def _run(directory: Path, *words: str) -> bytes:
    return subprocess.run(words, cwd=directory, stdout=subprocess.PIPE, check=True).stdout
