"""`manage.py import_agent_events FILE`: import events about agents from a JSON Lines file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import PartnerKey, Scope
from config.processes.progress import Progress
from leaderboard.events import file_import
from leaderboard.events.file_import import (
    ConcurrentImportError,
    ForeignLinesError,
    ImportListener,
    InvalidLinesError,
    NothingImportedError,
)
from leaderboard.events.json_lines import DamagedFileError, InvalidLine
from leaderboard.events.recording import Reporter
from leaderboard.models import EventImport
from tokens.following import prefetch

# Invalid lines listed one by one when they stop the import.
_MAX_LISTED = 20


class Command(BaseCommand):
    help = "Import events about agents from JSON Lines. If interrupted, the same command resumes the import."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="JSON Lines file, plain or gzip.")
        reporter_group = parser.add_mutually_exclusive_group(required=True)
        reporter_group.add_argument(
            "--key", type=int, metavar="ID", help="Import the events as reported by this partner key."
        )
        reporter_group.add_argument(
            "--source",
            metavar="NAME",
            help="Namespace of the event ids, for events of no partner key. They may be about any agent; new agents "
            "belong to no key.",
        )
        parser.add_argument("--skip-bad", action="store_true", help="Skip invalid lines and list them.")

    def handle(self, *args: Any, **options: Any) -> None:
        path, reporter = Path(options["file"]), _reporter(options["key"], options["source"])
        try:
            row = file_import.get_or_create_import(path, reporter=reporter)
            if row.finished_at is None:
                self._run(row, path, reporter=reporter, skip_invalid=options["skip_bad"])
            else:
                self.stdout.write(f"This file was imported on {row.finished_at:%Y-%m-%d %H:%M} UTC")
        except OSError as error:
            raise CommandError(f"FILE: {error.strerror}") from error
        except ForeignLinesError as error:
            self._list_lines(error.lines[:_MAX_LISTED])
            raise CommandError(
                f"{error}, about agents of other reporters; nothing of their chunk was written. Is it the right key? "
                "--skip-bad does not skip them"
            ) from error
        except InvalidLinesError as error:
            self._list_lines(error.lines[:_MAX_LISTED])
            raise CommandError(f"{error}; nothing of their chunk was written. --skip-bad skips them") from error
        except KeyboardInterrupt as error:
            raise CommandError("Stopped; run the same command to resume") from error
        except (DamagedFileError, NothingImportedError, ConcurrentImportError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"lines: {row.lines_read}, added: {row.added}, known: {row.known}, skipped: {row.skipped}")

    def _run(self, row: EventImport, path: Path, *, reporter: Reporter, skip_invalid: bool) -> None:
        progress = Progress(
            part="events", unit="bytes", end=path.stat().st_size, labels={"file": row.name}, counts=_counts(row)
        )

        def show(row: EventImport, position: int) -> None:
            progress.advance(position, _counts(row))

        try:
            with prefetch.tuned_for_reading():
                listener = ImportListener(on_progress=show, on_skip=self._list_lines)
                file_import.run_import(row, path, reporter=reporter, skip_invalid=skip_invalid, listener=listener)
        finally:
            progress.finish()

    def _list_lines(self, lines: Sequence[InvalidLine]) -> None:
        for line in lines:
            self.stderr.write(str(line))


def _counts(row: EventImport) -> dict[str, int]:
    return {"lines": row.lines_read, "added": row.added, "known": row.known, "skipped": row.skipped}


def _reporter(key_id: int, source: str | None) -> Reporter:
    if source is not None:
        if not source.strip():
            raise CommandError("--source must not be blank")
        return Reporter(source=f"file {source}")
    key = PartnerKey.objects.filter(pk=key_id).first()
    if key is None:
        raise CommandError(f"--key: there is no partner key {key_id}")
    if Scope.AGENTS not in key.scopes:
        raise CommandError(f"--key: partner key {key_id} lacks the scope {Scope.AGENTS}")
    return Reporter.for_key(key)
