"""Progress of a file import: a bar on a terminal, otherwise a log line every few seconds."""

import logging
import sys
import time
from dataclasses import dataclass, field
from typing import Any, TextIO

from tqdm import tqdm

from leaderboard.models import EventImport

logger = logging.getLogger(__name__)

# Seconds between two log lines.
LOG_INTERVAL_SECONDS = 10.0


@dataclass(kw_only=True)
class ImportProgress:
    """Progress of a file of `size` bytes on disk; an earlier run may have read some of its lines."""

    row: EventImport
    size: int
    output: TextIO = field(default_factory=lambda: sys.stderr)
    _position: int = field(default=0, init=False)
    _lines_before: int = field(init=False)
    _started: float = field(default_factory=time.monotonic, init=False)
    _logged_at: float = field(default_factory=time.monotonic, init=False)
    _bar: "tqdm[Any] | None" = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._lines_before = self.row.lines_read
        if self.output.isatty():
            self._bar = tqdm(desc="events", total=self.size, unit="B", unit_scale=True, file=self.output)

    def update(self, row: EventImport, position: int) -> None:
        """Update the progress: the row counts everything up to byte `position` of the file on disk."""
        new_bytes, self._position, self.row = position - self._position, position, row
        if self._bar is not None:
            self._bar.set_postfix_str(f"{row.lines_read} lines, {self._lines_per_second():.0f}/s", refresh=False)
            self._bar.update(new_bytes)
        elif time.monotonic() - self._logged_at >= LOG_INTERVAL_SECONDS:
            self._log()

    def finish(self) -> None:
        """Close the bar and log the final counts."""
        if self._bar is not None:
            self._bar.close()
        self._log()

    def _log(self) -> None:
        self._logged_at = time.monotonic()
        values = {
            "file": self.row.name.replace(" ", "-"),
            "percent": f"{100 * self._position / self.size:.1f}" if self.size else "100.0",
            "lines": self.row.lines_read,
            "lines_per_second": f"{self._lines_per_second():.0f}",
            "added": self.row.added,
            "known": self.row.known,
            "skipped": self.row.skipped,
            "seconds": f"{self._elapsed():.0f}",
        }
        logger.info(" ".join(f"{name}={value}" for name, value in values.items()))

    def _lines_per_second(self) -> float:
        return (self.row.lines_read - self._lines_before) / self._elapsed()

    def _elapsed(self) -> float:
        return max(time.monotonic() - self._started, 0.001)
