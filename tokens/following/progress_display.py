"""Progress of a run of blocks: a bar on a terminal, otherwise log lines at an interval."""

import logging
import sys
import time
from dataclasses import dataclass, field
from typing import Any, TextIO

from tqdm import tqdm

from tokens.models import Coverage

logger = logging.getLogger(__name__)

# Seconds between two log lines.
LOG_INTERVAL_SECONDS = 10.0


@dataclass(kw_only=True)
class ProgressDisplay:
    """The progress through blocks from the first to the last, of which some were done before."""

    chain_id: int
    # The kind of work, such as "history".
    part: str
    first: int
    last: int
    # The last block that was done before.
    done_before: int
    output: TextIO = field(default_factory=lambda: sys.stderr)
    launches: int = field(default=0, init=False)
    transactions: int = field(default=0, init=False)
    _done: int = field(init=False)
    _started: float = field(default_factory=time.monotonic, init=False)
    _logged_at: float = field(default_factory=time.monotonic, init=False)
    _bar: "tqdm[Any] | None" = field(default=None, init=False)

    @classmethod
    def begin(cls, row: Coverage, part: str, *, done: int) -> "ProgressDisplay":
        """Return the display of a bounded coverage row with `done` as the last block that is done."""
        last = row.first_block if row.last_block is None else row.last_block
        return cls(chain_id=row.chain_id, part=part, first=row.first_block, last=last, done_before=done)

    def __post_init__(self) -> None:
        self._done = self.done_before
        if self.output.isatty():
            self._bar = tqdm(
                desc=self.part,
                total=self.last - self.first + 1,
                initial=self.done_before - self.first + 1,
                unit=" blocks",
                unit_scale=True,
                file=self.output,
            )

    def record(self, to: int, *, launches: int = 0, transactions: int = 0) -> None:
        """Record that all blocks up to `to` are done, with the counts since the last call."""
        added, self._done = to - self._done, to
        self.launches += launches
        self.transactions += transactions
        if self._bar is not None:
            self._bar.set_postfix_str(
                f"{self.launches} launches, {self.launches / self._seconds():.0f}/s", refresh=False
            )
            self._bar.update(added)
        elif time.monotonic() - self._logged_at >= LOG_INTERVAL_SECONDS:
            self._log()

    def finish(self) -> None:
        """Close the bar and log the final state."""
        if self._bar is not None:
            self._bar.close()
        self._log()

    def _log(self) -> None:
        self._logged_at = time.monotonic()
        seconds = self._seconds()
        rate = (self._done - self.done_before) / seconds
        values = {
            "chain": self.chain_id,
            "part": self.part.replace(" ", "-"),
            "blocks": f"{self.first}-{self.last}",
            "done_to": self._done,
            "percent": f"{100 * (self._done - self.first + 1) / (self.last - self.first + 1):.1f}",
            "launches": self.launches,
            "launches_per_second": f"{self.launches / seconds:.0f}",
            "transactions": self.transactions,
            "blocks_per_second": f"{rate:.0f}",
            "seconds": f"{seconds:.0f}",
            "seconds_left": f"{(self.last - self._done) / rate:.0f}" if rate else "unknown",
        }
        logger.info(" ".join(f"{name}={value}" for name, value in values.items()))

    def _seconds(self) -> float:
        return max(time.monotonic() - self._started, 0.001)
