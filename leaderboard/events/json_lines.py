"""Reader for JSON Lines event files, plain or compressed by gzip. No database.

It reads chunks, so that memory does not depend on the file's length. Each chunk has the file position after it.
"""

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import orjson

from config.parsing.json_rules import InvalidFieldsError
from leaderboard.events import payloads
from leaderboard.events.reported_events import Event

MAX_LINE_BYTES = 1024 * 1024
# Lines per database transaction, which blocks all other fact writers.
CHUNK_LINES = 10_000
_CHUNK_BYTES = 16 * 1024 * 1024
_BLOCK_BYTES = 1024 * 1024
_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class DamagedFileError(ValueError):
    """Compressed file that can't be read to its end."""


@dataclass(frozen=True, slots=True)
class InvalidLine:
    """Rejected line: its number, from 1; a path in its event, empty for the whole line; and the broken rule."""

    number: int
    path: str
    rule: str

    def __str__(self) -> str:
        return f"line {self.number}: {self.path} {self.rule}" if self.path else f"line {self.number}: {self.rule}"


@dataclass(frozen=True, slots=True)
class EventChunk:
    """Consecutive lines: valid lines as events with their line numbers, and invalid lines."""

    events: tuple[Event, ...]
    numbers: tuple[int, ...]
    invalid: tuple[InvalidLine, ...]
    # Counted from the file's start to this chunk's end: decompressed bytes, lines, and bytes on disk.
    bytes_read: int
    lines_read: int
    position: int


def import_digest(path: Path, *, source: str) -> str:
    """Return the SHA-256, in lower-case hex, over the source of the event ids and the file's content."""
    total = hashlib.sha256(hashlib.sha256(source.encode()).digest())
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            total.update(block)
    return total.hexdigest()


class EventFileReader:
    """Event file reader that starts at a given position, such as the end of an earlier chunk."""

    def __init__(self, file: BinaryIO, *, latest: datetime, bytes_read: int, lines_read: int) -> None:
        """Seek to the position; times after `latest` are rejected. Raises DamagedFileError."""
        self._file, self._latest = file, latest
        self._bytes, self._lines = bytes_read, lines_read
        is_compressed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        self._text: BinaryIO | gzip.GzipFile = gzip.GzipFile(fileobj=file) if is_compressed else file
        with self._as_damaged_file_error():
            self._text.seek(bytes_read)

    def read(self) -> EventChunk | None:
        """Return the next chunk, or None at the file's end. Raises DamagedFileError."""
        events, numbers, invalid = list[Event](), list[int](), list[InvalidLine]()
        lines_before, bytes_before = self._lines, self._bytes
        with self._as_damaged_file_error():
            while self._lines - lines_before < CHUNK_LINES and self._bytes - bytes_before < _CHUNK_BYTES:
                try:
                    line = self._read_line()
                    if not line:
                        break
                    event = self._parse_line(line)
                except InvalidFieldsError as error:
                    invalid += [InvalidLine(self._lines, path, rule) for path, rule in error.problems]
                    continue
                if event is not None:
                    events.append(event)
                    numbers.append(self._lines)
        if self._lines == lines_before:
            return None
        return EventChunk(
            events=tuple(events),
            numbers=tuple(numbers),
            invalid=tuple(invalid),
            bytes_read=self._bytes,
            lines_read=self._lines,
            position=self._file.tell(),
        )

    def _read_line(self) -> bytes:
        """Return the next line with its line end; empty at the file's end.

        Raises InvalidFieldsError for a line that is too long.
        """
        line = self._text.readline(MAX_LINE_BYTES + 1)
        if not line:
            return line
        is_first = self._bytes == 0
        self._lines += 1
        self._bytes += len(line)
        if len(line) > MAX_LINE_BYTES and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = self._text.readline(_BLOCK_BYTES)
                self._bytes += len(line)
            raise InvalidFieldsError([("", f"must have at most {MAX_LINE_BYTES} bytes")])
        # A file that has only the mark still has one line.
        return line.removeprefix(_BYTE_ORDER_MARK) or b"\n" if is_first else line

    def _parse_line(self, line: bytes) -> Event | None:
        """Parse a line; None for a blank line. Raises InvalidFieldsError."""
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            if not line.strip():
                return None
            raise InvalidFieldsError([("", "must be JSON in UTF-8")]) from error
        return payloads.parse_event(value, latest=self._latest)

    @contextmanager
    def _as_damaged_file_error(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DamagedFileError(
                f"The compressed file is damaged or truncated after line {self._lines}: {error}"
            ) from error
