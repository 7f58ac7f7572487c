"""Files of events become rows, a chunk at a time; what is written, and how far the file is read, are one.

So an import that was broken off at any instant goes on where it was.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from config.postgresql.bulk_load import commit_lazily
from leaderboard.events import json_lines, recording
from leaderboard.events.errors import BadEvents, NotYours
from leaderboard.events.field_rules import latest_time
from leaderboard.events.json_lines import BadLine, Chunk, EventFile
from leaderboard.events.payloads import Event
from leaderboard.events.recording import Recorded, Reporter
from leaderboard.models import EventImport


class BadLines(ValueError):
    """Lines break rules, and none of their chunk was written."""

    def __init__(self, lines: Sequence[BadLine]) -> None:
        super().__init__(f"Bad lines: {len({line.number for line in lines})}")
        self.lines = tuple(lines)


class OthersAgents(BadLines):
    """Lines are about agents of others: whoever tells is the wrong one, so that they are not skipped either."""


class NothingTaken(Exception):
    """Every line was skipped; the import begins anew the next time."""


class Overtaken(Exception):
    """Another process imports the same file."""


@dataclass(frozen=True, kw_only=True)
class Listener:
    """Who is told of an import while it goes on."""

    # How far it is: the row, and how much of the file's bytes on the disk have been read.
    note: Callable[[EventImport, int], None]
    # Of lines that were left out.
    skip: Callable[[Sequence[BadLine]], None]


def begin(path: Path, *, reporter: Reporter) -> EventImport:
    """The row of a file's import as `reporter`'s: a new one, or that of one that was broken off, or is finished.

    Raises OSError.
    """
    digest = json_lines.digest(path, source=reporter.source)
    row, _ = EventImport.objects.get_or_create(digest=digest, defaults={"name": f"{path.name} of {reporter.source}"})
    return row


def run(row: EventImport, path: Path, *, reporter: Reporter, skips_bad: bool, listener: Listener) -> None:
    """Write all events of the file that the row does not count yet, and bring the row up to date.

    A bad line ends it before its chunk is written, where lines are not to be skipped. Raises BadLines, OthersAgents,
    NothingTaken, DamagedFile, Overtaken, OSError.
    """
    with path.open("rb") as opened:
        file = EventFile(
            opened, latest=latest_time(timezone.now()), bytes_read=row.bytes_read, lines_read=row.lines_read
        )
        for chunk in _ahead(file):
            _write(row, chunk, reporter=reporter, skips_bad=skips_bad, skip=listener.skip)
            listener.note(row, chunk.position)
    if row.skipped and not row.added + row.known:
        _begin_anew(row)
        raise NothingTaken(f"Nothing was taken in: all {row.skipped} events were skipped")
    row.finished_at = timezone.now()
    row.save(update_fields=["finished_at"])


def _ahead(file: EventFile) -> Iterator[Chunk]:
    """The file's chunks, of which the next one is read while one is written."""
    with ThreadPoolExecutor(max_workers=1) as reader:
        following = reader.submit(file.read)
        while (chunk := following.result()) is not None:
            following = reader.submit(file.read)
            yield chunk


def _write(
    row: EventImport,
    chunk: Chunk,
    *,
    reporter: Reporter,
    skips_bad: bool,
    skip: Callable[[Sequence[BadLine]], None],
) -> None:
    with transaction.atomic():
        # What a crash of the database loses is told as not read.
        commit_lazily()
        recorded, bad = _record(chunk, reporter=reporter)
        bad = sorted([*chunk.bad, *bad], key=lambda line: line.number)
        if bad and not skips_bad:
            raise BadLines(bad)
        _advance(row, chunk, recorded, skipped=len({line.number for line in bad}))
    if bad:
        skip(bad)


def _record(chunk: Chunk, *, reporter: Reporter) -> tuple[Recorded, list[BadLine]]:
    """Keep a chunk's events but those that are refused, which are told. Raises OthersAgents."""
    left: list[tuple[int, Event]] = list(zip(chunk.numbers, chunk.events, strict=True))
    bad = list[BadLine]()
    while True:
        try:
            return recording.record([event for _, event in left], reporter=reporter), bad
        except BadEvents as error:
            found = [BadLine(left[trouble.index][0], trouble.path, trouble.rule) for trouble in error.troubles]
            if isinstance(error, NotYours):
                raise OthersAgents(found) from error
            bad += found
            refused = {trouble.index for trouble in error.troubles}
        # What rests on a line that is left out is found the next time.
        left = [each for index, each in enumerate(left) if index not in refused]


def _advance(row: EventImport, chunk: Chunk, recorded: Recorded, *, skipped: int) -> None:
    """Count a chunk. Raises Overtaken where somebody else has counted one since."""
    moved = EventImport.objects.filter(pk=row.pk, bytes_read=row.bytes_read, finished_at=None).update(
        bytes_read=chunk.bytes_read,
        lines_read=chunk.lines_read,
        added=F("added") + recorded.added,
        known=F("known") + recorded.known,
        skipped=F("skipped") + skipped,
    )
    if not moved:
        raise Overtaken("Another process imports this file, too")
    row.refresh_from_db()


def _begin_anew(row: EventImport) -> None:
    """Have the next one read the file from its beginning: what was missing may be there then."""
    EventImport.objects.filter(pk=row.pk, finished_at=None).update(bytes_read=0, lines_read=0, skipped=0)
