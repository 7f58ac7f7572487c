"""Backfill on demand: launches in a run of past blocks and later events about their tokens, or only trades."""

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from config.http.backoff import Backoff
from config.http.errors import PermanentError
from config.postgresql import advisory_locks
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.evm_chain import Chain
from tokens.following.chain_heads import final_below
from tokens.following.coverage import open_later_coverage, open_run_coverage, open_trade_coverage
from tokens.following.history import block_progress, read_history, sum_up
from tokens.following.prefetch import RetryControl
from tokens.following.verifying.verification import verify_coverage
from tokens.indexing import chain_lock
from tokens.models import Coverage, Token

logger = logging.getLogger(__name__)

_BACKOFF = Backoff(first=0.25, longest=30)


class BackfillRunningError(PermanentError):
    """Another process reads the same blocks."""


class NotFinalError(PermanentError):
    """The block is not final yet."""


@dataclass(kw_only=True)
class Backfill:
    """One backfill run for a chain, with its own counts."""

    chain: Chain
    # The same chain with the second node first.
    alternate: Chain
    control: RetryControl
    launches: int = field(default=0, init=False)
    transactions: int = field(default=0, init=False)
    trades: int = field(default=0, init=False)
    # Rows that the verification found to be missing, and rows that the chain does not have.
    missing: int = field(default=0, init=False)
    invented: int = field(default=0, init=False)

    def run(self, *, first: int, last: int, verified: bool) -> bool:
        """Read and write all blocks, then the later events of their tokens; verify both if `verified`.

        Resumes where an earlier call for the same blocks ended. Return False after a stop, True once all is done.
        Raises NotFinalError, BackfillRunningError, ProgressConflictError, and NodeUnavailableError at the start, where
        a wrong URL is the likeliest cause: later, calls to nodes are retried without limit.
        """
        self._require_final(last)
        run = open_run_coverage(self.chain.info, first=first, last=last)
        with _locked(run):
            self._do(run, verified=verified)
        return not self.control.stop.is_set()

    def run_trades(self, *, first: int | None, last: int | None, verified: bool) -> bool:
        """Read and write only the trades of indexed tokens, in the blocks from `open_trade_coverage`; as `run`."""
        final = self._require_final(last)
        row = open_trade_coverage(self.chain.info, first=first, last=last, final=final, verified=verified)
        if row is not None:
            with _locked(row):
                self._read(row, "trades")
                if verified:
                    self._verify(row)
        return not self.control.stop.is_set()

    def _do(self, run: Coverage, *, verified: bool) -> None:
        self._read(run, "launches")
        rows = [run]
        launched = Token.objects.on_chain().filter(
            chain_id=run.chain_id, block_number__range=(run.first_block, run.last_block)
        )
        # Their events were untrusted before the tokens were indexed, and other blocks may have been read by then.
        final = self._final_retried() if launched.exists() else None
        if final is not None and (later := open_later_coverage(run, self.chain.info, final=final)):
            self._read(later, "events since")
            rows.append(later)
        for row in rows if verified else ():
            self._verify(row)

    def _read(self, row: Coverage, part: str) -> None:
        progress, counts = block_progress(row, part, done_to=row.followed_to, last=_last(row)), Counter[str]()
        for step in read_history(row, chain=self.chain, target=lambda: _last(row), control=self.control):
            self.launches += step.launches
            self.transactions += step.transactions
            self.trades += step.trades
            counts.update(launches=step.launches, transactions=step.transactions, trades=step.trades)
            progress.advance(step.to, counts)
        progress.finish()
        sum_up(row, chain=self.chain.info, stop=self.control.stop)

    def _verify(self, row: Coverage) -> None:
        progress = block_progress(row, "check", done_to=row.verified_to, last=_last(row))
        steps = verify_coverage(
            row, chain=self.chain, alternate=self.alternate, target=lambda: _last(row), control=self.control
        )
        for step in steps:
            self.missing += step.missing
            self.invented += step.invented
            progress.advance(step.to)
        progress.finish()

    def _final_retried(self) -> int | None:
        """Return the newest final block, however often the nodes fail; None after a stop."""
        while not self.control.stop.is_set():
            try:
                final = self._final()
            except NodeUnavailableError as error:
                self.control.stop.wait(self.control.record(error))
            else:
                self.control.clear()
                return final
        return None

    def _require_final(self, last: int | None) -> int:
        """Return the newest final block. Raises NotFinalError if `last` is above it."""
        final = self._final()
        if last is not None and last > final:
            raise NotFinalError(f"block {last} is not final yet, the newest final block is {final}")
        return final

    def _final(self) -> int:
        return final_below(self.chain.read_newest_header().number, self.chain.info)


@contextmanager
def _locked(row: Coverage) -> Iterator[None]:
    """Hold the row's lock while the block runs. Raises BackfillRunningError."""
    key = chain_lock.chain_lock_key(chain_lock.ChainLockPurpose.BACKFILLING, row.pk)
    try:
        with advisory_locks.session_lock(key):
            yield
    except advisory_locks.LockHeldError as error:
        raise BackfillRunningError("another process reads the same blocks") from error


def _last(row: Coverage) -> int:
    if row.last_block is None:
        raise ValueError(f"{row} has no end")
    return row.last_block


class RetryDelay:
    """Back-off for a backfill, without an attempt limit."""

    def __init__(self) -> None:
        self._failures = 0

    def record(self, error: Exception) -> float:
        """Log a failure and return the delay in seconds."""
        self._failures += 1
        delay = _BACKOFF.delay(self._failures)
        logger.warning("%s; retrying in %s s", error, delay)
        return delay

    def clear(self) -> None:
        """Reset the delay after a success."""
        self._failures = 0
