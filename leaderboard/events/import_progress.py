"""How far a file of events is: a bar on a terminal, elsewhere a line in the log now and then."""

import logging
import sys
import time
from dataclasses import dataclass, field
from typing import Any, TextIO

from tqdm import tqdm

from leaderboard.models import EventImport

logger = logging.getLogger(__name__)

# Seconds between two lines.
LINE_EVERY = 10.0


@dataclass(kw_only=True)
class Progress:
    """Of a file with so many bytes on the disk, some of whose lines were read before."""

    row: EventImport
    size: int
    output: TextIO = field(default_factory=lambda: sys.stderr)
    _position: int = field(default=0, init=False)
    _lines_before: int = field(init=False)
    _started: float = field(default_factory=time.monotonic, init=False)
    _said: float = field(default_factory=time.monotonic, init=False)
    _bar: "tqdm[Any] | None" = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._lines_before = self.row.lines_read
        if self.output.isatty():
            self._bar = tqdm(desc="events", total=self.size, unit="B", unit_scale=True, file=self.output)

    def note(self, row: EventImport, position: int) -> None:
        """The row counts what was read up to this byte on the disk."""
        news, self._position, self.row = position - self._position, position, row
        if self._bar is not None:
            self._bar.set_postfix_str(f"{row.lines_read} lines, {self._pace():.0f}/s", refresh=False)
            self._bar.update(news)
        elif time.monotonic() - self._said >= LINE_EVERY:
            self._say()

    def finish(self) -> None:
        """Tell where it ended."""
        if self._bar is not None:
            self._bar.close()
        self._say()

    def _say(self) -> None:
        self._said = time.monotonic()
        values = {
            "file": self.row.name.replace(" ", "-"),
            "percent": f"{100 * self._position / self.size:.1f}" if self.size else "100.0",
            "lines": self.row.lines_read,
            "lines_per_second": f"{self._pace():.0f}",
            "added": self.row.added,
            "known": self.row.known,
            "skipped": self.row.skipped,
            "seconds": f"{self._seconds():.0f}",
        }
        logger.info(" ".join(f"{name}={value}" for name, value in values.items()))

    def _pace(self) -> float:
        return (self.row.lines_read - self._lines_before) / self._seconds()

    def _seconds(self) -> float:
        return max(time.monotonic() - self._started, 0.001)
