"""New heads of a chain: from a WebSocket subscription if a URL is set, else by polling."""

import logging
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Event

from django.conf import settings

from config.http.backoff import Backoff
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.evm.subscriptions import HeadSubscription, SubscriptionLostError, subscribe_new_heads
from tokens.chains.types import BlockHeader

logger = logging.getLogger(__name__)

# The interval is measured over this many of the newest blocks.
_REMEMBERED = 64
# Block times are whole seconds and blocks come early: polling starts this share of the interval before a block is due.
_EARLY = 0.05
# The shortest delay, and the delay as a share of the seconds that a block is overdue: an idle chain is polled rarely.
_SHORTEST_SECONDS = 0.05
_SHARE_OF_DELAY = 0.25

# Seconds for which a notified block is retried although other nodes don't have it yet.
_FRESH_SECONDS = 2.0
# Seconds within which the session's end is noticed.
_SLICE_SECONDS = 0.25
# The timeout for opening a WebSocket, during which there is no polling; and the delays before a lost one is opened
# again.
_OPEN_SECONDS = 3.0
_RECONNECT_BACKOFF = Backoff(first=1, longest=60)


@dataclass
class PollSchedule:
    """Poll times computed from the block times of recent headers."""

    # The longest delay in seconds.
    longest: float
    # (number, block time in Unix seconds), oldest first.
    _blocks: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=_REMEMBERED), init=False)
    _seen_at: float | None = field(default=None, init=False)

    def record(self, header: BlockHeader, *, now: float) -> None:
        """Record a reported header; `now` is in seconds on any monotonic clock, as in `next_delay`.

        A header that is no higher than an earlier one is repeated or on another branch, and changes nothing.
        """
        if self._blocks and header.number <= self._blocks[-1][0]:
            return
        self._blocks.append((header.number, header.time))
        self._seen_at = now

    def interval(self) -> float:
        """Return the seconds between two blocks; 0 while too few were seen."""
        if len(self._blocks) < 2:
            return 0.0
        (first, begin), (last, end) = self._blocks[0], self._blocks[-1]
        return max(end - begin, 0) / (last - first)

    def next_delay(self, *, now: float) -> float:
        """Return the seconds until the next poll."""
        due_at = now if self._seen_at is None else self._seen_at + (1 - _EARLY) * self.interval()
        delay = now - due_at
        poll_delay = -delay if delay < 0 else max(_SHORTEST_SECONDS, _SHARE_OF_DELAY * delay)
        return min(poll_delay, self.longest)


@dataclass
class HeadWatcher:
    """A source of a chain's newest header, by subscription or polling. For one thread."""

    chain_id: int
    # The WebSocket URL, if there is one.
    url: str | None
    schedule: PollSchedule = field(default_factory=lambda: PollSchedule(longest=settings.FOLLOW_POLL_SECONDS))
    _opened: ExitStack = field(default_factory=ExitStack, init=False)
    _subscription: HeadSubscription | None = field(default=None, init=False)
    _open_after: float = field(default=0.0, init=False)
    _losses: int = field(default=0, init=False)
    _poll_due: bool = field(default=True, init=False)
    _received: BlockHeader | None = field(default=None, init=False)
    _received_at: float = field(default=0.0, init=False)

    def close(self) -> None:
        """Close the subscription."""
        self._subscription = None
        self._opened.close()

    def poll_now(self) -> None:
        """Poll without delay the next time, because the newest header could not be followed."""
        self._poll_due = True

    def wait_for_newest(self, chain: Chain, *, known_hash: str | None, ended: Event) -> BlockHeader | None:
        """Return the newest header once there may be a new one; None after the session's end.

        `known_hash` is the hash of the newest followed block. Raises NodeUnavailableError.
        """
        header = None if self._poll_due else self._wait(ended)
        if header is None and not ended.is_set():
            newest = chain.read_newest_header()
            self.schedule.record(newest, now=time.monotonic())
            self._poll_due = False
            # The subscribed node may have a block a moment before the polled nodes.
            is_fresh = time.monotonic() - self._received_at < _FRESH_SECONDS
            header = self._received if self._received and is_fresh and newest.hash == known_hash else newest
        return header

    def _wait(self, ended: Event) -> BlockHeader | None:
        """Wait for a notification, up to FOLLOW_POLL_SECONDS; without a subscription, wait for the next poll."""
        try:
            if self._subscribe():
                # A subscription reports no earlier block: poll once.
                return None
            subscription = self._subscription
            deadline = time.monotonic() + settings.FOLLOW_POLL_SECONDS
            while subscription and not ended.is_set() and (seconds := deadline - time.monotonic()) > 0:
                header = subscription.next_header(timeout=min(seconds, _SLICE_SECONDS))
                if header is not None:
                    self._received, self._received_at = header, time.monotonic()
                    self.schedule.record(header, now=self._received_at)
                    self._losses = 0
                    return header
        except SubscriptionLostError as error:
            self._lose(error)
            # It may have missed a block: poll without delay.
            return None
        if subscription is None:
            ended.wait(self.schedule.next_delay(now=time.monotonic()))
        return None

    def _subscribe(self) -> bool:
        """Return whether a due subscription was opened now. Raises SubscriptionLostError."""
        if self._subscription is not None or not self.url or time.monotonic() < self._open_after:
            return False
        begun = subscribe_new_heads(self.url, chain_id=self.chain_id, timeout=_OPEN_SECONDS)
        self._subscription = self._opened.enter_context(begun)
        logger.info("chain=%s subscribed to new heads", self.chain_id)
        return True

    def _lose(self, error: SubscriptionLostError) -> None:
        self.close()
        self._losses += 1
        delay = _RECONNECT_BACKOFF.delay(self._losses)
        self._open_after = time.monotonic() + delay
        logger.warning("chain=%s %s; polling, reconnecting in %s s", self.chain_id, error, delay)


@contextmanager
def head_watcher(chain_id: int) -> Iterator[HeadWatcher]:
    """Yield a chain's watcher, and close its subscription at the end."""
    watcher = HeadWatcher(chain_id, settings.RPC_WS_URLS.get(chain_id))
    try:
        yield watcher
    finally:
        watcher.close()
