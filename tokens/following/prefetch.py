"""Block range prefetching: several ranges are read at a time, and handed out strictly in chain order."""

import gc
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from django.conf import settings

from config.http.compute_lock import computing
from config.http.errors import RetryableError
from config.http.request_ids import RequestThreadPool

Result = TypeVar("Result")

# Ranges are sized to hold about this many transactions: results wait in memory for their turn.
TARGET_TRANSACTIONS = 250
# Seconds within which a stop is noticed.
_STOP_CHECK_SECONDS = 0.2

# Garbage collection thresholds while blocks are read: young, middle and old generation. A response becomes a hundred
# thousand objects at once, all without cycles. With Python's defaults (700, 10, 10), scanning them takes a fifth of the
# time for reading them.
_YOUNG, _MIDDLE, _OLD = 50_000, 20, 100
# The thread switch interval, a tenth of Python's default. The writing thread waits for the interpreter lock after each
# statement, about 20 times in a batch: behind reading threads that compute, PostgreSQL would be idle meanwhile.
_SWITCH_SECONDS = 0.0005


@dataclass(frozen=True, kw_only=True)
class RetryControl:
    """The stop event and the retry hooks for work that is retried without limit."""

    # Set by the owner to stop the work.
    stop: threading.Event
    # Records a failed attempt; returns the retry delay in seconds.
    record: Callable[[Exception], float]
    # Called after each success.
    clear: Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class PrefetchJob(Generic[Result]):
    """Functions that read block ranges, in threads that may not use the database."""

    # Reads the range from its first to its last block. Retried without limit on RetryableError.
    read: Callable[[int, int], Result]
    # A result's size in transactions.
    count: Callable[[Result], int]
    # The most blocks that a range may have at the moment.
    longest: Callable[[], int]
    # The last block that may be read at the moment.
    target: Callable[[], int]
    control: RetryControl
    # Called with each result in chain order, once all earlier ones are handed out; False has the range read again.
    accepts: Callable[[Result], bool] = lambda _: True


@dataclass
class _PendingRange(Generic[Result]):
    """A range that is being read."""

    first: int
    last: int
    future: "Future[Result]"


@contextmanager
def prefetching(job: PrefetchJob[Result], *, first: int) -> Iterator["Prefetcher[Result]"]:
    """Yield a prefetcher from block `first` on. At the end, pending ranges are dropped and no thread continues."""
    with RequestThreadPool(settings.FOLLOW_CONCURRENCY, thread_name_prefix="read-ahead") as pool:
        prefetcher = Prefetcher(job, pool=pool, planned_to=first - 1)
        try:
            yield prefetcher
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@dataclass
class Prefetcher(Generic[Result]):
    """Ranges that are requested and not handed out yet."""

    job: PrefetchJob[Result]
    pool: RequestThreadPool = field(kw_only=True)
    planned_to: int = field(kw_only=True)
    # Only one reading or converting thread computes at a time; the others wait.
    _computing: threading.Lock = field(default_factory=threading.Lock, init=False)
    _pending: "deque[_PendingRange[Result]]" = field(default_factory=deque, init=False)
    _density_known: bool = field(default=False, init=False)
    _length: int = field(default_factory=lambda: settings.FOLLOW_RANGE_BLOCKS, init=False)

    def next_batch(self, *, limit: int, blocking: bool = True) -> list[Result]:
        """Return the next results: at least one, and further ones that are complete, up to `limit` transactions.

        Return an empty list at the target, if the target fell behind the pending ranges, and after a stop; without
        `blocking` also where none is complete. Raises what `read` raises, except RetryableError, if `blocking`.
        """
        self._request()
        results: list[Result] = []
        held = 0
        while self._pending and not self.job.control.stop.is_set() and self._is_done(blocking=blocking and not results):
            pending = self._pending[0]
            result = pending.future.result()
            count = self.job.count(result)
            if results and held + count > limit:
                break
            if not self.job.accepts(result):
                pending.future = self.pool.submit(self._read, pending.first, pending.last)
                continue
            self._pending.popleft()
            self._resize(pending.last - pending.first + 1, count)
            results.append(result)
            held += count
        self._request()
        return results

    def _request(self) -> None:
        """Submit further ranges, until 2 * FOLLOW_CONCURRENCY + 1 are pending.

        The first range is read without others: only its result shows how much the next ones may hold.
        """
        target, limit = self.job.target(), 2 * settings.FOLLOW_CONCURRENCY + 1 if self._density_known else 1
        while len(self._pending) < limit and self.planned_to < target:
            length = min(self._length, self.job.longest())
            first, last = self.planned_to + 1, min(self.planned_to + length, target)
            self._pending.append(_PendingRange(first, last, self.pool.submit(self._read, first, last)))
            self.planned_to = last

    def computing(self) -> AbstractContextManager[None]:
        """Return a context in which no reading thread computes."""
        return computing(self._computing)

    def _read(self, first: int, last: int) -> Result:
        with self.computing():
            return self.job.read(first, last)

    def _is_done(self, *, blocking: bool) -> bool:
        """Return whether the oldest range has its result. Failed ranges are requested again."""
        while self._pending and not self.job.control.stop.is_set():
            future = self._pending[0].future
            if not future.done():
                if not blocking:
                    return False
                wait([future], timeout=_STOP_CHECK_SECONDS, return_when=FIRST_COMPLETED)
                continue
            error = future.exception()
            if error is None:
                self.job.control.clear()
                return True
            if not blocking:
                return False
            if not isinstance(error, RetryableError):
                raise error
            self._retry(error)
        return False

    def _retry(self, error: RetryableError) -> None:
        self.job.control.stop.wait(self.job.control.record(error))
        if self._pending[0].last > self.job.target():
            # The chain was unwound meanwhile and may never have these blocks: the next reader starts anew.
            self.planned_to = self._pending[0].first - 1
            self._pending.clear()
            return
        for pending in self._pending:
            if pending.future.done() and isinstance(pending.future.exception(), RetryableError):
                pending.future = self.pool.submit(self._read, pending.first, pending.last)

    def _resize(self, blocks: int, count: int) -> None:
        """Adapt the next ranges' length to this range's density; at most double it."""
        fitting = blocks * TARGET_TRANSACTIONS // max(count, 1)
        self._density_known = True
        self._length = max(1, min(fitting, 2 * self._length, settings.FOLLOW_LONGEST_RANGE_BLOCKS))


@contextmanager
def tuned_for_reading() -> Iterator[None]:
    """Collect garbage rarely, exclude existing objects such as modules from it, and switch threads often."""
    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*thresholds)
        gc.unfreeze()
