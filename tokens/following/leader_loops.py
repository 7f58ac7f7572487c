"""One turn at leading a chain: its loops run until it ends, and each is started again when it fails."""

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

from django.db import Error, close_old_connections, connections

from config.http.json_client import Retryable
from tokens.following.prefetch import Watch
from tokens.models import ChainHead

# What goes wrong while a chain is followed: said once in the log, shown in the chain's row, and waited out.
logger = logging.getLogger(__name__)

# Seconds until the next try: doubled from the first on.
_FIRST_PAUSE = 0.05
# What is expected and over within so many seconds, such as a node that is a block behind, is not worth a word.
GRACE_SECONDS = 2.0
_NUMBERS = re.compile("[0-9]+")


@dataclass(kw_only=True)
class _Trouble:
    since: float
    pause: float = _FIRST_PAUSE
    # What was said last in the log, and what the chain's row shows.
    said: str = ""
    shown: str = ""


@dataclass
class Troubles:
    """What the loops of one chain suffer from at the moment, each by its name."""

    chain_id: int
    # Seconds.
    grace: float = GRACE_SECONDS
    _of_parts: dict[str, _Trouble] = field(default_factory=dict, init=False)
    # Whether the chain's row is known to show these, and not those of a process before.
    _is_shown: bool = field(default=False, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def note(self, part: str, error: Exception, *, longest_pause: float) -> float:
        """Keep why a loop can't go on; returns for how many seconds it should pause.

        A reason is logged when it is new, whatever its numbers, and one that nobody expected with its traceback. The
        texts of Retryable errors hold no URL; those of others may, so that only their kind is shown.
        """
        expected = isinstance(error, Retryable)
        with self._lock:
            trouble = self._of_parts.setdefault(part, _Trouble(since=time.monotonic()))
            pause = min(trouble.pause, longest_pause)
            trouble.pause = min(2 * trouble.pause, longest_pause)
            lasts = time.monotonic() - trouble.since >= self.grace
            reason = _NUMBERS.sub("", f"{type(error).__name__}: {error}") if lasts or not expected else ""
            is_new = reason not in ("", trouble.said)
            trouble.said = reason
            if is_new:
                trouble.shown = f"{part}: {error if expected else type(error).__name__}"
        if is_new:
            log = logger.warning if expected else logger.error
            log("chain=%s trouble with the %s", self.chain_id, trouble.shown, exc_info=None if expected else error)
            self._show()
        return pause

    def clear(self, part: str) -> None:
        """A loop goes on."""
        with self._lock:
            trouble = self._of_parts.pop(part, None)
        if trouble and trouble.shown:
            logger.info("chain=%s trouble with the %s is over", self.chain_id, part)
        if not self._is_shown or (trouble and trouble.shown):
            self._show()

    def _show(self) -> None:
        with self._lock:
            shown = "; ".join(trouble.shown for _, trouble in sorted(self._of_parts.items()) if trouble.shown)
        try:
            # The trouble may be the database's, which has ended this thread's connection.
            close_old_connections()
            ChainHead.objects.filter(pk=self.chain_id).update(trouble=shown)
            self._is_shown = True
        except Error as error:
            logger.warning("chain=%s its trouble can't be stored: %s", self.chain_id, " ".join(str(error).split()))


# The longest pause after trouble, and before a loop that failed starts again, in seconds.
_LONGEST_PAUSE = 10.0


@dataclass
class Term:
    """A turn, whose loops look at `ended` at least every second."""

    chain_id: int
    ended: Event = field(default_factory=Event)
    # Set by whoever finds that most nodes have another newest block than the one that is followed, or that a node has
    # newer ones for long.
    outvoted: Event = field(default_factory=Event)
    troubles: Troubles = field(init=False)

    def __post_init__(self) -> None:
        self.troubles = Troubles(self.chain_id)

    def watch(self, part: str) -> Watch:
        """What a loop of this name gives to work that may take for ever."""
        return Watch(
            stop=self.ended,
            note=lambda error: self.troubles.note(part, error, longest_pause=_LONGEST_PAUSE),
            clear=lambda: self.troubles.clear(part),
        )

    def start(self, part: str, loop: "Callable[[Term], None]") -> Thread:
        """Run a loop in a thread of its own; `part` is what troubles call it."""
        thread = Thread(target=self._keep_running, args=(part, loop), name=f"chain-{self.chain_id}-{part}", daemon=True)
        thread.start()
        return thread

    def _keep_running(self, part: str, loop: "Callable[[Term], None]") -> None:
        while not self.ended.is_set():
            close_old_connections()
            try:
                loop(self)
            except Exception as error:
                self.ended.wait(self.troubles.note(part, error, longest_pause=_LONGEST_PAUSE))
        connections.close_all()
