"""Who tells of new blocks: a node's subscription where there is one, else nodes that are asked again and again."""

import logging
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Event

from django.conf import settings

from tokens.chains.evm.subscriptions import Subscription, SubscriptionLost, subscribe
from tokens.chains.protocols import Chain
from tokens.chains.types import BlockHeader

# When to ask for the next block, where nobody tells of it: a little before it is due, then often, then less often.
# Of so many of the newest blocks the time between two is taken.
_REMEMBERED = 64
# Block times are whole seconds and blocks come early: asking begins so much of the time between two before one is due.
_EARLY = 0.05
# The shortest pause; and each one as a share of how long the block is overdue, so that an idle chain is asked rarely.
_SHORTEST_SECONDS = 0.05
_SHARE_OF_DELAY = 0.25


@dataclass
class Pace:
    """What the headers that were seen tell of a chain's pace."""

    # The longest pause in seconds.
    longest: float
    # (number, block time in Unix seconds), oldest first.
    _blocks: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED), init=False)
    _seen_at: float | None = field(default=None, init=False)

    def note(self, header: BlockHeader, *, now: float) -> None:
        """A node has told of a block; `now` is in seconds of any clock that runs evenly, here and below.

        A block that is no higher than those before is of another branch, or the same: the pace stays.
        """
        if self._blocks and header.number <= self._blocks[-1][0]:
            return
        self._blocks.append((header.number, header.time))
        self._seen_at = now

    def interval(self) -> float:
        """The seconds between two blocks; 0 while too few were seen."""
        if len(self._blocks) < 2:
            return 0.0
        (first, begin), (last, end) = self._blocks[0], self._blocks[-1]
        return max(end - begin, 0) / (last - first)

    def pause(self, *, now: float) -> float:
        """How many seconds to wait until the next look."""
        due_at = now if self._seen_at is None else self._seen_at + (1 - _EARLY) * self.interval()
        delay = now - due_at
        wanted = -delay if delay < 0 else max(_SHORTEST_SECONDS, _SHARE_OF_DELAY * delay)
        return min(wanted, self.longest)


logger = logging.getLogger(__name__)

# For so many seconds a block that was told of is tried again although other nodes don't have it yet.
_TOLD_SECONDS = 2.0
# How soon it is noticed that the turn ends.
_SLICE_SECONDS = 0.25
# How long a WebSocket may take to open, in which nobody looks for blocks, and how long it is left alone when it was
# lost: doubled from the first pause to the longest.
_OPEN_SECONDS = 3.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0


@dataclass
class News:
    """The newest block of a chain, as soon as it is known. For one thread."""

    chain_id: int
    # A WebSocket's; None where there is none.
    url: str | None
    pace: Pace = field(default_factory=lambda: Pace(longest=settings.FOLLOW_POLL_SECONDS))
    _opened: ExitStack = field(default_factory=ExitStack, init=False)
    _subscription: Subscription | None = field(default=None, init=False)
    _open_after: float = field(default=0.0, init=False)
    _pause: float = field(default=_FIRST_PAUSE, init=False)
    _doubted: bool = field(default=True, init=False)
    _told: BlockHeader | None = field(default=None, init=False)
    _told_at: float = field(default=0.0, init=False)

    def close(self) -> None:
        """End the subscription."""
        self._subscription = None
        self._opened.close()

    def doubt(self) -> None:
        """What was told of last could not be followed: nodes are asked at once the next time."""
        self._doubted = True

    def wait_for_newest(self, chain: Chain, *, known: str | None, ended: Event) -> BlockHeader | None:
        """The newest block once there may be a new one; None where the turn ended.

        `known` is the hash of the newest block that is followed. Raises NodeUnavailable.
        """
        told = None if self._doubted else self._wait(ended)
        if told is None and not ended.is_set():
            newest = chain.read_newest()
            self.pace.note(newest, now=time.monotonic())
            self._doubted = False
            # Whoever told of a block may have it a moment before those who are asked for what it holds.
            is_fresh = time.monotonic() - self._told_at < _TOLD_SECONDS
            told = self._told if self._told and is_fresh and newest.hash == known else newest
        return told

    def _wait(self, ended: Event) -> BlockHeader | None:
        """Wait for the subscription where it is live, at most for the longest pause; else for the next look."""
        try:
            if self._subscribe():
                # It tells of nothing that came before it: nodes are asked once.
                return None
            subscription = self._subscription
            deadline = time.monotonic() + settings.FOLLOW_POLL_SECONDS
            while subscription and not ended.is_set() and (seconds := deadline - time.monotonic()) > 0:
                header = subscription.wait(seconds=min(seconds, _SLICE_SECONDS))
                if header is not None:
                    self._told, self._told_at = header, time.monotonic()
                    self.pace.note(header, now=self._told_at)
                    self._pause = _FIRST_PAUSE
                    return header
        except SubscriptionLost as error:
            self._lose(error)
            # It may have missed a block: nodes are asked at once.
            return None
        if subscription is None:
            ended.wait(self.pace.pause(now=time.monotonic()))
        return None

    def _subscribe(self) -> bool:
        """Whether a subscription was begun just now, because it was due. Raises SubscriptionLost."""
        if self._subscription is not None or not self.url or time.monotonic() < self._open_after:
            return False
        begun = subscribe(self.url, chain_id=self.chain_id, timeout=_OPEN_SECONDS)
        self._subscription = self._opened.enter_context(begun)
        logger.info("chain=%s a node tells of new blocks by itself", self.chain_id)
        return True

    def _lose(self, error: SubscriptionLost) -> None:
        self.close()
        self._open_after = time.monotonic() + self._pause
        logger.warning("chain=%s %s; nodes are asked, and it is tried again in %s s", self.chain_id, error, self._pause)
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)


@contextmanager
def listening(chain_id: int) -> Iterator[News]:
    """Hear of a chain's new blocks while the block runs."""
    news = News(chain_id, settings.RPC_WS_URLS.get(chain_id))
    try:
        yield news
    finally:
        news.close()
