"""A run of past blocks, read on demand: its launches, and what happened to their tokens up to now."""

import logging
from dataclasses import dataclass, field

from config.http.json_client import Permanent
from config.postgresql import advisory_locks
from tokens.chains.protocols import Chain
from tokens.following import coverage as progress
from tokens.following.chain_heads import final_below
from tokens.following.history import read_history
from tokens.following.prefetch import Watch
from tokens.following.progress_display import Progress
from tokens.following.verification import verify
from tokens.indexing import chain_lock
from tokens.models import Coverage, Token


class UnderWay(Permanent):
    """Another process reads the same run of blocks."""


class NotFinal(Permanent):
    """The chain may still drop the block."""


@dataclass(kw_only=True)
class Backfill:
    """What one call does for a chain; what an earlier one did is not counted."""

    chain: Chain
    # The same chain, whose nodes are asked in another order.
    otherwise: Chain
    watch: Watch
    launches: int = field(default=0, init=False)
    transactions: int = field(default=0, init=False)
    # Rows that a check of the blocks found to be missing, and to be none of the chain's.
    missing: int = field(default=0, init=False)
    invented: int = field(default=0, init=False)

    def run(self, *, first: int, last: int, verified: bool) -> bool:
        """Read and write all blocks, and then what happened to their tokens since; check both where wanted.

        Goes on where an earlier call for the same blocks ended. Returns whether nothing remains to be done: False after
        it was stopped. Raises NotFinal, UnderWay, NodeUnavailable where the newest block is not told, and Overtaken.
        """
        final = self._final()
        if last > final:
            raise NotFinal(f"block {last} is not final yet, the newest that is one is {final}")
        run = progress.open_run(self.chain.info, first=first, last=last)
        try:
            with advisory_locks.held(chain_lock.key(chain_lock.Purpose.BACKFILLING, run.pk)):
                self._do(run, verified=verified)
        except advisory_locks.HeldElsewhere as error:
            raise UnderWay("another process reads the same blocks") from error
        return not self.watch.stop.is_set()

    def _do(self, run: Coverage, *, verified: bool) -> None:
        self._read(run, "launches")
        rows = [run]
        launched = Token.objects.on_chain().filter(
            chain_id=run.chain_id, block_number__range=(run.first_block, run.last_block)
        )
        # Before the tokens were known, nobody believed their events, and other blocks may have been read by then.
        if not self.watch.stop.is_set() and launched.exists():
            later = progress.open_later(run, self.chain.info, final=self._final())
            if later is not None:
                self._read(later, "events since")
                rows.append(later)
        for row in rows if verified else ():
            self._verify(row)

    def _read(self, row: Coverage, part: str) -> None:
        shown = Progress.begin(row, part, done=row.followed_to)
        for step in read_history(row, chain=self.chain, target=lambda: _last(row), watch=self.watch):
            self.launches += step.launches
            self.transactions += step.transactions
            shown.note(step.to, launches=step.launches, transactions=step.transactions)
        shown.finish()

    def _verify(self, row: Coverage) -> None:
        shown = Progress.begin(row, "check", done=row.verified_to)
        steps = verify(row, chain=self.chain, otherwise=self.otherwise, target=lambda: _last(row), watch=self.watch)
        for step in steps:
            self.missing += step.missing
            self.invented += step.invented
            shown.note(step.to)
        shown.finish()

    def _final(self) -> int:
        return final_below(self.chain.read_newest().number, self.chain.info)


def _last(row: Coverage) -> int:
    if row.last_block is None:
        raise ValueError(f"{row} has no end")
    return row.last_block


# How long to wait after a failure: for ever, in pauses that double.
logger = logging.getLogger(__name__)

# In seconds.
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 30.0


class Patience:
    """The pause that comes next, of work that is nobody else's to watch over."""

    def __init__(self) -> None:
        self._pause = FIRST_PAUSE

    def note(self, error: Exception) -> float:
        """Log a failure; returns how many seconds to wait."""
        pause, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE)
        logger.warning("%s; tried again in %s s", error, pause)
        return pause

    def clear(self) -> None:
        """It goes well again."""
        self._pause = FIRST_PAUSE
