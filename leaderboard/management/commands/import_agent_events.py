"""`manage.py import_agent_events FILE`: events about agents from a file, one a line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import PartnerKey, Scope
from leaderboard.events import file_import
from leaderboard.events.file_import import BadLines, Listener, NothingTaken, OthersAgents, Overtaken
from leaderboard.events.import_progress import Progress
from leaderboard.events.json_lines import BadLine, DamagedFile
from leaderboard.events.recording import Reporter
from leaderboard.models import EventImport
from tokens.following import prefetch

# So many bad lines are told one by one where they end the import.
_MAX_TOLD = 20


class Command(BaseCommand):
    help = "Take in events about agents, one a line as JSON; the same command goes on where it was stopped or killed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="Lines of JSON, also compressed by gzip.")
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument(
            "--key", type=int, metavar="ID", help="Partner key that tells of these events: as if it had called."
        )
        whose.add_argument(
            "--source",
            metavar="NAME",
            help="Whose event ids they are, where no partner key tells: of all agents, and new ones are no key's.",
        )
        parser.add_argument("--skip-bad", action="store_true", help="Leave bad lines out, and tell which.")

    def handle(self, *args: Any, **options: Any) -> None:
        path, reporter = Path(options["file"]), _reporter(options["key"], options["source"])
        try:
            row = file_import.begin(path, reporter=reporter)
            if row.finished_at is None:
                self._run(row, path, reporter=reporter, skips_bad=options["skip_bad"])
            else:
                self.stdout.write(f"This file was taken in on {row.finished_at:%Y-%m-%d %H:%M} UTC")
        except OSError as error:
            raise CommandError(f"FILE: {error.strerror}") from error
        except OthersAgents as error:
            self._tell(error.lines[:_MAX_TOLD])
            raise CommandError(
                f"{error}, about agents of others; nothing of their chunk was written. Is it the right key? "
                "--skip-bad does not leave them out"
            ) from error
        except BadLines as error:
            self._tell(error.lines[:_MAX_TOLD])
            raise CommandError(f"{error}; nothing of their chunk was written. --skip-bad leaves them out") from error
        except KeyboardInterrupt as error:
            raise CommandError("Stopped; the same command goes on from there") from error
        except (DamagedFile, NothingTaken, Overtaken) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"lines: {row.lines_read}, added: {row.added}, known: {row.known}, skipped: {row.skipped}")

    def _run(self, row: EventImport, path: Path, *, reporter: Reporter, skips_bad: bool) -> None:
        progress = Progress(row=row, size=path.stat().st_size)
        try:
            with prefetch.set_for_reading():
                listener = Listener(note=progress.note, skip=self._tell)
                file_import.run(row, path, reporter=reporter, skips_bad=skips_bad, listener=listener)
        finally:
            progress.finish()

    def _tell(self, lines: Sequence[BadLine]) -> None:
        for line in lines:
            self.stderr.write(str(line))


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
    return Reporter.of_key(key)
