"""The version before an upgrade: a commit of the history in a directory of its own, with its own requirements."""

import fcntl
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from config.environment.variables import BASE_DIR
from tests.chaos import harness

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
    # A dump of its migrated database, if one is known.
    dump: bytes = b""

    def manage(self, environment: Mapping[str, str], *words: str) -> None:
        """Run a command of its manage.py; fail with its errors."""
        harness.manage(environment, *words, directory=self.directory)

    def migrate(self, environment: Mapping[str, str]) -> None:
        """Make all tables of an empty database; an exported version's are those of its first migration."""
        exported = self.directory / "migrated.sql"
        if self.dump or exported.exists():
            harness.load_dump(environment["DATABASE_URL"], self.dump or exported.read_bytes())
            return
        self.manage(environment, "migrate", "--verbosity", "0")
        if self.directory != BASE_DIR:
            exported.write_bytes(harness.dump_database(environment["DATABASE_URL"]))


def this_version(source: str = "") -> Version:
    """Return the version of this directory, uncommitted changes included; `source` is its migrated database's URL."""
    dump = harness.dump_database(source) if source else b""
    return Version(BASE_DIR, _git("describe", "--always", "--dirty"), dump)


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
    _EXPORTS.mkdir(parents=True, exist_ok=True)
    with (_EXPORTS / "lock").open("w") as lock:
        # Test processes export one after the other.
        fcntl.flock(lock, fcntl.LOCK_EX)
        _export(commit, directory)
    return Version(directory, commit)


def _export(commit: str, directory: Path) -> None:
    if not directory.exists():
        draft = directory.with_suffix(".draft")
        with tarfile.open(fileobj=BytesIO(_run(BASE_DIR, "git", "archive", commit))) as files:
            files.extractall(draft, filter="data")
        draft.rename(directory)
    if (directory / "requirements.txt").read_bytes() != (BASE_DIR / "requirements.txt").read_bytes():
        _run(directory, "make", f"PYTHON={sys.executable}", ".venv/installed")
    elif not (directory / ".venv").exists():
        (directory / ".venv").symlink_to(sys.prefix)


def _last_tag() -> str:
    """Return the newest tag before this commit, or an empty string."""
    with suppress(subprocess.CalledProcessError):
        return _git("describe", "--tags", "--abbrev=0", "HEAD^")
    return ""


def _git(*words: str) -> str:
    return _run(BASE_DIR, "git", *words).decode().strip()


def _run(directory: Path, *words: str) -> bytes:
    return subprocess.run(words, cwd=directory, stdout=subprocess.PIPE, check=True).stdout
