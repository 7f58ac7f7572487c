"""A leader's loops over one chain: threads that restart after failures, and the failures that operators see."""

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

from django.db import Error, close_old_connections, connections

from config.http.backoff import Backoff
from config.http.errors import RetryableError
from config.http.request_ids import begin_request
from tokens.following.prefetch import RetryControl
from tokens.models import ChainHead

logger = logging.getLogger(__name__)

# The first retry delay in seconds.
_FIRST_DELAY = 0.05
# A loop's longest retry delay, in seconds.
_MAX_DELAY = 10.0
# Expected failures that end within so many seconds, such as a node that is a block behind, are not logged.
GRACE_SECONDS = 2.0
_NUMBERS = re.compile("[0-9]+")


@dataclass(kw_only=True)
class _Failure:
    """One loop's current failure."""

    since: float
    attempts: int = 0
    # The reason that was logged last, and the text in the chain's row.
    logged_reason: str = ""
    shown: str = ""


@dataclass
class LoopFailures:
    """Current failures by loop name, for one chain."""

    chain_id: int
    # Seconds.
    grace: float = GRACE_SECONDS
    _by_loop: dict[str, _Failure] = field(default_factory=dict, init=False)
    # Whether the chain's row shows these failures, and not an earlier process's.
    _is_shown: bool = field(default=False, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def record(self, name: str, error: Exception, *, max_delay: float) -> float:
        """Record a loop's failed attempt and return the retry delay in seconds.

        A reason is logged when it is new apart from its numbers; an unexpected one with its traceback. RetryableError
        texts contain no URL. Other errors' texts may, so only the error's type is shown.
        """
        expected = isinstance(error, RetryableError)
        with self._lock:
            failure = self._by_loop.setdefault(name, _Failure(since=time.monotonic()))
            failure.attempts += 1
            delay = Backoff(first=_FIRST_DELAY, longest=max_delay).delay(failure.attempts)
            lasts = time.monotonic() - failure.since >= self.grace
            reason = _NUMBERS.sub("", f"{type(error).__name__}: {error}") if lasts or not expected else ""
            is_new = reason not in ("", failure.logged_reason)
            failure.logged_reason = reason
            if is_new:
                failure.shown = f"{name}: {error if expected else type(error).__name__}"
        if is_new:
            log = logger.warning if expected else logger.error
            log("chain=%s failing: %s", self.chain_id, failure.shown, exc_info=None if expected else error)
            self._show()
        return delay

    def clear(self, name: str) -> None:
        """Clear a loop's failure after a success."""
        with self._lock:
            failure = self._by_loop.pop(name, None)
        if failure and failure.shown:
            logger.info("chain=%s recovered: %s", self.chain_id, name)
        if not self._is_shown or (failure and failure.shown):
            self._show()

    def _show(self) -> None:
        with self._lock:
            shown = "; ".join(failure.shown for _, failure in sorted(self._by_loop.items()) if failure.shown)
        try:
            # The failure may be the database's, which has closed this thread's connection.
            close_old_connections()
            ChainHead.objects.filter(pk=self.chain_id).update(error=shown)
            self._is_shown = True
        except Error as error:
            logger.warning("chain=%s can't store its failures: %s", self.chain_id, " ".join(str(error).split()))


@dataclass
class LeaderSession:
    """One period in which this process leads a chain. Its loops check `ended` at least every second."""

    chain_id: int
    ended: Event = field(default_factory=Event)
    # Set when most nodes have another newest block than the followed one, or when a node stays ahead.
    outvoted: Event = field(default_factory=Event)
    failures: LoopFailures = field(init=False)

    def __post_init__(self) -> None:
        self.failures = LoopFailures(self.chain_id)

    def control(self, name: str) -> RetryControl:
        """Return a loop's stop event and retry hooks, for work that is retried without limit."""
        return RetryControl(
            stop=self.ended,
            record=lambda error: self.failures.record(name, error, max_delay=_MAX_DELAY),
            clear=lambda: self.failures.clear(name),
        )

    def start(self, name: str, loop: "Callable[[LeaderSession], None]") -> Thread:
        """Run a loop in its own thread; `name` is its name among the failures."""
        thread = Thread(target=self._keep_running, args=(name, loop), name=f"chain-{self.chain_id}-{name}", daemon=True)
        thread.start()
        return thread

    def _keep_running(self, name: str, loop: "Callable[[LeaderSession], None]") -> None:
        while not self.ended.is_set():
            begin_request()
            close_old_connections()
            try:
                loop(self)
            except Exception as error:
                # Any failure, which `record` logs: the loop must not end before its session.
                self.ended.wait(self.failures.record(name, error, max_delay=_MAX_DELAY))
        connections.close_all()
