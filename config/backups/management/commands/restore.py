"""`manage.py restore`: restore a backup into an empty database."""

import signal
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.backups.dump_programs import BackupError
from config.backups.restoring import prepare_recovered, read_manifest, restore_backup


class Command(BaseCommand):
    help = "Restore a backup into the empty database of DATABASE_URL, compare all rows, and prepare it for a start."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("path", type=Path, nargs="?", metavar="FILE", help="A file of manage.py backup.")
        source.add_argument(
            "--recovered",
            action="store_true",
            help="Restore nothing: prepare the rows of a database that PostgreSQL has recovered to an earlier time.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        # As Ctrl-C: pg_restore is killed.
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            sentences = prepare_recovered() if options["recovered"] else self._restore(options["path"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt as error:
            raise CommandError("stopped by a signal: nothing was changed") from error
        finally:
            signal.signal(signal.SIGTERM, before)
        for sentence in sentences:
            self.stdout.write(sentence)

    def _restore(self, path: Path) -> list[str]:
        manifest = read_manifest(path)
        sentences = restore_backup(path, manifest)
        rows = sum(table.rows for table in manifest.tables.values())
        self.stdout.write(f"{len(manifest.tables)} tables with {rows:,} rows are those of {manifest.at}.")
        for name in manifest.changed_secrets():
            self.stdout.write(f"{name} differs from that of the backup: see docs/backups.md.")
        return sentences
