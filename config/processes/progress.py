"""Progress of a long command: a bar on a terminal, otherwise a log line with names and values every few seconds."""

import logging
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

from tqdm import tqdm

logger = logging.getLogger(__name__)

# Seconds between two log lines.
LOG_INTERVAL_SECONDS = 10.0


@dataclass(kw_only=True)
class Progress:
    """Progress of a run from `begin` to `end`; an earlier run may have done all up to `position`.

    `counts` are totals that grow with the position, such as row totals; the first one's rate is shown.
    """

    # The kind of work, or its current stage.
    part: str
    # What a position counts, such as "blocks".
    unit: str
    begin: int = 0
    end: int
    position: int = 0
    # Further names and values for the log line.
    labels: Mapping[str, object] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    output: TextIO = field(default_factory=lambda: sys.stderr)
    _bar: "tqdm[Any] | None" = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._started = self._logged_at = time.monotonic()
        self._position_before, self._counts_before = self.position, self.counts
        if self.output.isatty():
            progress, total = self.position - self.begin, self.end - self.begin
            self._bar = tqdm(total=total, initial=progress, unit=f" {self.unit}", unit_scale=True, file=self.output)

    def advance(self, position: int, counts: Mapping[str, int] | None = None) -> None:
        """Show that all up to `position` is done, with these totals."""
        added, self.position, self.counts = position - self.position, position, counts or {}
        if self._bar is not None:
            self._bar.set_description_str(self.part, refresh=False)
            rates = self._rates().items()
            text = ", ".join(f"{self.counts[name]} {name}, {rate:.0f}/s" for name, rate in rates)
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(added)
        elif time.monotonic() - self._logged_at >= LOG_INTERVAL_SECONDS:
            self._log()

    def finish(self) -> None:
        """Close the bar and log the final values."""
        if self._bar is not None:
            self._bar.close()
        self._log()

    def _log(self) -> None:
        self._logged_at = time.monotonic()
        progress, total, seconds = self.position - self.begin, self.end - self.begin, self._seconds()
        remaining = total - progress
        speed = (self.position - self._position_before) / seconds
        values = {
            "part": self.part,
            **self.labels,
            "done_to": self.position,
            "percent": f"{100 * progress / total:.1f}" if total else "100.0",
            **self.counts,
            **{f"{name}_per_second": f"{rate:.0f}" for name, rate in self._rates().items()},
            f"{self.unit}_per_second": f"{speed:.0f}",
            "seconds": f"{seconds:.0f}",
            "seconds_left": "0" if not remaining else f"{remaining / speed:.0f}" if speed else "unknown",
        }
        logger.info(" ".join(f"{name}={value}".replace(" ", "-") for name, value in values.items()))

    def _rates(self) -> dict[str, float]:
        """Return the first count's rate per second by its name; empty without counts."""
        first_count = list(self.counts.items())[:1]
        return {name: (count - self._counts_before.get(name, 0)) / self._seconds() for name, count in first_count}

    def _seconds(self) -> float:
        return max(time.monotonic() - self._started, 0.001)
