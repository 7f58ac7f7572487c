"""Runs of blocks, several of them read at a time, handed out strictly in the chain's order."""

import gc
import sys
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Generic, TypeVar

from django.conf import settings

from config.http.json_client import Retryable

Result = TypeVar("Result")

# A range is made as long as to hold about so many transactions: those that wait for their turn are in memory.
WANTED = 1000
# How soon it is noticed that all is to stop, in seconds.
_NOTICED_WITHIN = 0.2


@dataclass(frozen=True, kw_only=True)
class Watch:
    """How work that may take for ever is stopped, and to whom it tells its trouble."""

    # Set from outside.
    stop: Event
    # Told of each try that failed; returns how many seconds to wait before the next one.
    note: Callable[[Exception], float]
    # Told of each that went well.
    clear: Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class Work(Generic[Result]):
    """What is read of a run of blocks, by a thread of its own: it may not use the database."""

    # Takes the run's first and last block. Where it raises Retryable, it is tried again for ever.
    read: Callable[[int, int], Result]
    # How many transactions a result holds.
    count: Callable[[Result], int]
    # How many blocks a run may have by now.
    longest: Callable[[], int]
    # The last block that may be read by now.
    target: Callable[[], int]
    watch: Watch


@dataclass
class _Asked(Generic[Result]):
    first: int
    last: int
    future: "Future[Result]"


@contextmanager
def reading_ahead(work: Work[Result], *, first: int) -> Iterator["Ahead[Result]"]:
    """The results from block `first` on. At the end what was read in vain is dropped, and no thread goes on."""
    with ThreadPoolExecutor(settings.FOLLOW_CONCURRENCY, thread_name_prefix="read-ahead") as pool:
        ahead = Ahead(work, pool=pool, planned_to=first - 1)
        try:
            yield ahead
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@dataclass
class Ahead(Generic[Result]):
    """What is asked for and not handed out yet."""

    work: Work[Result]
    pool: ThreadPoolExecutor = field(kw_only=True)
    planned_to: int = field(kw_only=True)
    _asked: "deque[_Asked[Result]]" = field(default_factory=deque, init=False)
    _knows_density: bool = field(default=False, init=False)
    _length: int = field(default_factory=lambda: settings.FOLLOW_RANGE_BLOCKS, init=False)

    def take(self, *, most: int) -> list[Result]:
        """The next results: at least one, and further ones that are there already, up to so many transactions.

        None are left when the target is reached or went back behind them, or all is to stop. Raises what `read` raises,
        but for Retryable.
        """
        self._ask()
        taken: list[Result] = []
        held = 0
        while self._asked and not self.work.watch.stop.is_set() and self._is_done(wait_for_it=not taken):
            asked = self._asked[0]
            result = asked.future.result()
            count = self.work.count(result)
            if taken and held + count > most:
                break
            self._asked.popleft()
            self._resize(asked.last - asked.first + 1, count)
            taken.append(result)
            held += count
        self._ask()
        return taken

    def _ask(self) -> None:
        """Ask for what comes next; as many wait in all as are read at a time, and the one that is written.

        The first one goes alone: only its result tells how much the next ones may hold.
        """
        target, most = self.work.target(), settings.FOLLOW_CONCURRENCY + 1 if self._knows_density else 1
        while len(self._asked) < most and self.planned_to < target:
            length = min(self._length, self.work.longest())
            first, last = self.planned_to + 1, min(self.planned_to + length, target)
            self._asked.append(_Asked(first, last, self.pool.submit(self.work.read, first, last)))
            self.planned_to = last

    def _is_done(self, *, wait_for_it: bool) -> bool:
        """Whether the oldest one has its result; those that failed are asked for again."""
        while self._asked and not self.work.watch.stop.is_set():
            future = self._asked[0].future
            if not future.done():
                if not wait_for_it:
                    return False
                wait([future], timeout=_NOTICED_WITHIN, return_when=FIRST_COMPLETED)
                continue
            error = future.exception()
            if error is None:
                self.work.watch.clear()
                return True
            if not isinstance(error, Retryable):
                raise error
            if not wait_for_it:
                return False
            self._try_again(error)
        return False

    def _try_again(self, error: Retryable) -> None:
        self.work.watch.stop.wait(self.work.watch.note(error))
        if self._asked[0].last > self.work.target():
            # The chain was taken back meanwhile, and may never have these blocks: whoever comes next begins anew.
            self.planned_to = self._asked[0].first - 1
            self._asked.clear()
            return
        for asked in self._asked:
            if asked.future.done() and isinstance(asked.future.exception(), Retryable):
                asked.future = self.pool.submit(self.work.read, asked.first, asked.last)

    def _resize(self, blocks: int, count: int) -> None:
        """Make the next ranges as long as this one's density allows, and at most double."""
        fitting = blocks * WANTED // max(count, 1)
        self._knows_density = True
        self._length = max(1, min(fitting, 2 * self._length, settings.FOLLOW_LONGEST_RANGE_BLOCKS))


# How Python itself works while blocks are read by the thousand, beside a thread that writes them.
#
# An answer of a node becomes a hundred thousand objects at once, none of which is in a circle. By default all of them
# are looked through for circles again and again, which takes a fifth of the time that reading them takes. And a thread
# that waits for its turn beside others that compute waits for so long that PostgreSQL would stand still meanwhile.
# So many objects more than there were start a search, where Python's default is 700; and after so many searches
# among the young ones the older are looked through.
_YOUNG, _MIDDLE, _OLD = 50_000, 20, 100
# How long a thread may go on while another one waits, where Python's default is ten times as long: the writer waits
# for its turn after each of its statements, of which a batch has a score.
_TURN_SECONDS = 0.0005


@contextmanager
def set_for_reading() -> Iterator[None]:
    """Search for circles seldom, and not among what was there before, such as all modules; let threads take turns."""
    searches, turn = gc.get_threshold(), sys.getswitchinterval()
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
    sys.setswitchinterval(_TURN_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(turn)
        gc.set_threshold(*searches)
        gc.unfreeze()
