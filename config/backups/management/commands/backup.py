"""`manage.py backup`: write a consistent database backup into one file."""

import signal
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.backups.backing_up import remove_older_backups, write_backup
from config.backups.dump_programs import BackupError
from config.postgresql.schema_state import known_migrations

_NOT_IN_IT = (
    "Not in it: SECRET_KEY, PARTNER_KEY_PEPPER, keys and key files of wallets, .env, UPLOAD_DIR, which is"
    " data, and SITE_PICTURE_DIR, which is fetched again. Redis is not saved: it may lose messages, caches, rate limits"
    " and the key usage of a minute."
)


class Command(BaseCommand):
    help = "Write a consistent backup of the database while the service runs, with a manifest of all rows."
    # A backup must be possible with wrong chain settings.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "path", type=Path, metavar="FILE|DIRECTORY", help="A new file, or a directory for a file named by the time."
        )
        parser.add_argument(
            "--keep",
            type=_positive,
            metavar="COUNT",
            help="Then remove all but the newest COUNT files of such names in the directory.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        keep = options["keep"]
        if keep:
            _check_directory(options["path"])
        # As Ctrl-C: the unfinished file is removed, and pg_dump is killed.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            path, manifest = write_backup(options["path"])
            removed = remove_older_backups(path, keep=keep) if keep else []
        except BackupError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt as error:
            raise CommandError("stopped by a signal: there is no backup") from error
        finally:
            signal.signal(signal.SIGTERM, before)
        rows = sum(table.rows for table in manifest.tables.values())
        size = path.stat().st_size / 2**20
        self.stdout.write(f"{path}: {len(manifest.tables)} tables, {rows:,} rows, {size:,.1f} MiB, as of {manifest.at}")
        if removed:
            self.stdout.write(f"Removed: {', '.join(older.name for older in removed)}")
        if known_migrations() - manifest.migrations:
            self.stdout.write(
                "The database lacks migrations of this version: manage.py restore of this version migrates it, and a"
                " way back to the version before needs pg_restore of the file's database.dump."
            )
        self.stdout.write(_NOT_IN_IT)


def _check_directory(path: Path) -> None:
    """Raise CommandError for anything else, where `--keep` would remove files."""
    try:
        is_directory = path.is_dir()
    except OSError as error:
        raise CommandError(f"{path} can't be written: {error}") from error
    if not is_directory:
        raise CommandError("--keep needs a directory: it removes files by the times in their names")


def _positive(text: str) -> int:
    """Return a number of files. Raises ArgumentTypeError."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError("must be a number from 1 on")
    return int(text)
