"""How far a run of blocks is: a bar on a terminal, elsewhere a line in the log now and then."""

import logging
import sys
import time
from dataclasses import dataclass, field
from typing import Any, TextIO

from tqdm import tqdm

from tokens.models import Coverage

logger = logging.getLogger(__name__)

# Seconds between two lines.
LINE_EVERY = 10.0


@dataclass(kw_only=True)
class Progress:
    """Blocks from the first to the last, of which some were done before."""

    chain_id: int
    # What is done with the blocks.
    part: str
    first: int
    last: int
    # The last block that was done at the start.
    done_before: int
    output: TextIO = field(default_factory=lambda: sys.stderr)
    launches: int = field(default=0, init=False)
    transactions: int = field(default=0, init=False)
    _done: int = field(init=False)
    _started: float = field(default_factory=time.monotonic, init=False)
    _said: float = field(default_factory=time.monotonic, init=False)
    _bar: "tqdm[Any] | None" = field(default=None, init=False)

    @classmethod
    def begin(cls, row: Coverage, part: str, *, done: int) -> "Progress":
        """Of a row that has an end, and of whose blocks those up to `done` are done."""
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

    def note(self, to: int, *, launches: int = 0, transactions: int = 0) -> None:
        """All blocks up to this one are done, and have held so much since the last time."""
        news, self._done = to - self._done, to
        self.launches += launches
        self.transactions += transactions
        if self._bar is not None:
            self._bar.set_postfix_str(
                f"{self.launches} launches, {self.launches / self._seconds():.0f}/s", refresh=False
            )
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
        seconds = self._seconds()
        pace = (self._done - self.done_before) / seconds
        values = {
            "chain": self.chain_id,
            "part": self.part.replace(" ", "-"),
            "blocks": f"{self.first}-{self.last}",
            "done_to": self._done,
            "percent": f"{100 * (self._done - self.first + 1) / (self.last - self.first + 1):.1f}",
            "launches": self.launches,
            "launches_per_second": f"{self.launches / seconds:.0f}",
            "transactions": self.transactions,
            "blocks_per_second": f"{pace:.0f}",
            "seconds": f"{seconds:.0f}",
            "seconds_left": f"{(self.last - self._done) / pace:.0f}" if pace else "unknown",
        }
        logger.info(" ".join(f"{name}={value}" for name, value in values.items()))

    def _seconds(self) -> float:
        return max(time.monotonic() - self._started, 0.001)
