"""Event file import, chunk by chunk; one transaction writes each chunk with the progress row.

An interrupted import resumes after the last committed chunk.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from config.postgresql.bulk_load import tune_bulk_transaction
from leaderboard.events import json_lines, recording
from leaderboard.events.errors import ForeignAgentError, InvalidEventsError
from leaderboard.events.field_rules import latest_accepted_time
from leaderboard.events.json_lines import EventChunk, EventFileReader, InvalidLine
from leaderboard.events.recording import RecordedCounts, Reporter
from leaderboard.events.reported_events import Event
from leaderboard.models import EventImport


class InvalidLinesError(ValueError):
    """Lines that break rules; no line in their chunk was written."""

    def __init__(self, lines: Sequence[InvalidLine]) -> None:
        super().__init__(f"Invalid lines: {len({line.number for line in lines})}")
        self.lines = tuple(lines)


class ForeignLinesError(InvalidLinesError):
    """Lines about another reporter's agents; never skipped, since the given reporter is probably wrong."""


class NothingImportedError(Exception):
    """Import whose lines were all skipped; the next import starts again from the beginning."""


class ConcurrentImportError(Exception):
    """Another process imports the same file."""


@dataclass(frozen=True, kw_only=True)
class ImportListener:
    """Callbacks for an import's progress."""

    # Called with the row and the number of bytes read from the file on disk.
    on_progress: Callable[[EventImport, int], None]
    # Called with the skipped lines.
    on_skip: Callable[[Sequence[InvalidLine]], None]


def get_or_create_import(path: Path, *, reporter: Reporter) -> EventImport:
    """Return a file's import row for `reporter`: a new row, or the row that an earlier import left.

    Raises OSError.
    """
    digest = json_lines.import_digest(path, source=reporter.source)
    row, _ = EventImport.objects.get_or_create(digest=digest, defaults={"name": f"{path.name} of {reporter.source}"})
    return row


def run_import(
    row: EventImport, path: Path, *, reporter: Reporter, skip_invalid: bool, listener: ImportListener
) -> None:
    """Write all events in the file that the row does not count yet, and update the row.

    Unless `skip_invalid` is set, an invalid line stops the import before its chunk is written. Raises
    InvalidLinesError, ForeignLinesError, NothingImportedError, DamagedFileError, ConcurrentImportError, OSError.
    """
    with path.open("rb") as binary:
        file = EventFileReader(
            binary, latest=latest_accepted_time(timezone.now()), bytes_read=row.bytes_read, lines_read=row.lines_read
        )
        for chunk in _prefetch(file):
            _write_chunk(row, chunk, reporter=reporter, skip_invalid=skip_invalid, on_skip=listener.on_skip)
            listener.on_progress(row, chunk.position)
    if row.skipped and not row.added + row.known:
        _reset(row)
        raise NothingImportedError(f"Nothing was imported: all {row.skipped} events were skipped")
    row.finished_at = timezone.now()
    row.save(update_fields=["finished_at"])


def _prefetch(file: EventFileReader) -> Iterator[EventChunk]:
    """Yield the file's chunks; the next chunk is prefetched while a chunk is written."""
    with ThreadPoolExecutor(max_workers=1) as reader:
        following = reader.submit(file.read)
        while (chunk := following.result()) is not None:
            following = reader.submit(file.read)
            yield chunk


def _write_chunk(
    row: EventImport,
    chunk: EventChunk,
    *,
    reporter: Reporter,
    skip_invalid: bool,
    on_skip: Callable[[Sequence[InvalidLine]], None],
) -> None:
    with transaction.atomic():
        # A commit that is lost in a database crash loses the row's progress as well.
        tune_bulk_transaction()
        recorded, invalid = _record_chunk(chunk, reporter=reporter)
        invalid = sorted([*chunk.invalid, *invalid], key=lambda line: line.number)
        if invalid and not skip_invalid:
            raise InvalidLinesError(invalid)
        _advance_progress(row, chunk, recorded, skipped=len({line.number for line in invalid}))
    if invalid:
        on_skip(invalid)


def _record_chunk(chunk: EventChunk, *, reporter: Reporter) -> tuple[RecordedCounts, list[InvalidLine]]:
    """Record a chunk's events and return the rejected lines. Raises ForeignLinesError."""
    remaining: list[tuple[int, Event]] = list(zip(chunk.numbers, chunk.events, strict=True))
    invalid = list[InvalidLine]()
    while True:
        try:
            return recording.record_events([event for _, event in remaining], reporter=reporter), invalid
        except InvalidEventsError as error:
            rejected = [
                InvalidLine(remaining[problem.index][0], problem.path, problem.rule) for problem in error.problems
            ]
            if isinstance(error, ForeignAgentError):
                raise ForeignLinesError(rejected) from error
            invalid += rejected
            rejected_indices = {problem.index for problem in error.problems}
        # Events that depend on a dropped line are rejected in the next round.
        remaining = [entry for index, entry in enumerate(remaining) if index not in rejected_indices]


def _advance_progress(row: EventImport, chunk: EventChunk, recorded: RecordedCounts, *, skipped: int) -> None:
    """Add a chunk to the row's counts. Raises ConcurrentImportError if another process has advanced the row."""
    updated = EventImport.objects.filter(pk=row.pk, bytes_read=row.bytes_read, finished_at=None).update(
        bytes_read=chunk.bytes_read,
        lines_read=chunk.lines_read,
        added=F("added") + recorded.added,
        known=F("known") + recorded.known,
        skipped=F("skipped") + skipped,
    )
    if not updated:
        raise ConcurrentImportError("Another process is importing this file")
    row.refresh_from_db()


def _reset(row: EventImport) -> None:
    """Reset the row, so that the next import reads the whole file: agents missing now may exist then."""
    EventImport.objects.filter(pk=row.pk, finished_at=None).update(bytes_read=0, lines_read=0, skipped=0)
