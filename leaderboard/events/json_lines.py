"""Files of events: one event a line, as JSON, plain or compressed by gzip. No database.

Reads in chunks, so that a file of any length needs the same memory, and tells of each how far the file is read.
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

from config.json_rules import Refused
from leaderboard.events import payloads as events
from leaderboard.events.payloads import Event

MAX_LINE_BYTES = 1024 * 1024
# What is written in one database transaction, for which others who tell of events wait.
CHUNK_LINES = 10_000
_CHUNK_BYTES = 16 * 1024 * 1024
_BLOCK_BYTES = 1024 * 1024
_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class DamagedFile(ValueError):
    """What is compressed can't be read to its end."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line's number, from 1; a path in its event, empty for the whole line; and the rule that it breaks."""

    number: int
    path: str
    rule: str

    def __str__(self) -> str:
        return f"line {self.number}: {self.path} {self.rule}" if self.path else f"line {self.number}: {self.rule}"


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some lines: the events of the good ones with their numbers, and what is wrong with the others."""

    events: tuple[Event, ...]
    numbers: tuple[int, ...]
    bad: tuple[BadLine, ...]
    # Of the whole file up to this chunk's end: of the text, of its lines, and of the file as it lies on the disk.
    bytes_read: int
    lines_read: int
    position: int


def digest(path: Path, *, source: str) -> str:
    """The SHA-256, in lower-case hex, of whose events these are and what the file holds."""
    total = hashlib.sha256(hashlib.sha256(source.encode()).digest())
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            total.update(block)
    return total.hexdigest()


class EventFile:
    """A file from some place on, of which an earlier reading told."""

    def __init__(self, file: BinaryIO, *, latest: datetime, bytes_read: int, lines_read: int) -> None:
        """Times after `latest` are refused. Raises DamagedFile."""
        self._file, self._latest = file, latest
        self._bytes, self._lines = bytes_read, lines_read
        is_compressed = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        self._text: BinaryIO | gzip.GzipFile = gzip.GzipFile(fileobj=file) if is_compressed else file
        with self._damage_told():
            self._text.seek(bytes_read)

    def read(self) -> Chunk | None:
        """The next lines; None at the end. Raises DamagedFile."""
        found, numbers, bad = list[Event](), list[int](), list[BadLine]()
        lines_before, bytes_before = self._lines, self._bytes
        with self._damage_told():
            while self._lines - lines_before < CHUNK_LINES and self._bytes - bytes_before < _CHUNK_BYTES:
                try:
                    line = self._line()
                    if not line:
                        break
                    event = self._event(line)
                except Refused as error:
                    bad += [BadLine(self._lines, path, rule) for path, rule in error.problems]
                    continue
                if event is not None:
                    found.append(event)
                    numbers.append(self._lines)
        if self._lines == lines_before:
            return None
        return Chunk(
            events=tuple(found),
            numbers=tuple(numbers),
            bad=tuple(bad),
            bytes_read=self._bytes,
            lines_read=self._lines,
            position=self._file.tell(),
        )

    def _line(self) -> bytes:
        """The next line with its end; empty at the file's end. Raises Refused for one that is too long."""
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
            raise Refused([("", f"must have at most {MAX_LINE_BYTES} bytes")])
        # A file that holds nothing else still has a line.
        return line.removeprefix(_BYTE_ORDER_MARK) or b"\n" if is_first else line

    def _event(self, line: bytes) -> Event | None:
        """None for a blank line. Raises Refused."""
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            if not line.strip():
                return None
            raise Refused([("", "must be JSON in UTF-8")]) from error
        return events.read(value, latest=self._latest)

    @contextmanager
    def _damage_told(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DamagedFile(
                f"The compressed file is damaged, or cut off, behind line {self._lines}: {error}"
            ) from error
