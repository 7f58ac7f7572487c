"""One run of a view among all processes, agreed on in Redis.

Under the request's name stands first the mark of the process that runs the view, then its answer for the rest of its
life. Redis's own expiry is the one clock: no process has to agree with another about the time.
"""

import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson
from redis.exceptions import RedisError

from config.edge.cached_responses import Answer
from config.redis.connection import connect

logger = logging.getLogger(__name__)

_MARK = b"running"
_POLL_SECONDS = 0.005


@dataclass(frozen=True)
class Turn:
    """What a process has to do: serve the answer; or run the view, and tell the others of it where it `leads`."""

    answer: Answer | None = None
    leads: bool = False
    # Seconds of the monotonic clock.
    began: float = 0.0


class SharedRuns:
    """Safe to use by several threads, and by processes forked later. Without Redis everybody runs the view."""

    def __init__(self, url: str, *, patience_seconds: float = 1.0) -> None:
        """Others' runs are waited for `patience_seconds`; the mark of a process that died lasts twice as long."""
        self._redis = connect(url)
        self._patience_seconds = patience_seconds
        self._mark_seconds = 2 * patience_seconds

    def take_turn(self, name: str) -> Turn:
        """One command where nobody runs the view; else waits for who does."""
        began = time.monotonic()
        try:
            found = self._redis.set(name, _MARK, nx=True, get=True, px=int(self._mark_seconds * 1000))
            return Turn(leads=True, began=began) if found is None else Turn(self._wait_for(name, found))
        except RedisError:
            return Turn()
        except (ValueError, TypeError) as error:
            logger.warning("What Redis holds is no public answer: %s", error)
            return Turn()

    def end_turn(self, turn: Turn, name: str, answer: Answer | None) -> None:
        """Give the others the leader's answer for as long as it may be kept; without one they run the view at once."""
        if not turn.leads:
            return
        now = time.monotonic()
        milliseconds = int((answer.expires - now) * 1000) if answer else 0
        with suppress(RedisError):
            if answer and milliseconds > 0:
                self._redis.set(name, _write(answer), px=milliseconds)
            elif now - turn.began < self._mark_seconds:
                # Later the mark has expired, and one that stands there is another's.
                self._redis.delete(name)

    def _wait_for(self, name: str, found: Any) -> Answer | None:
        """The leader's answer, or None: it has none for us, or none yet."""
        until = time.monotonic() + self._patience_seconds
        while found == _MARK and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            found = self._redis.get(name)
        if found is None or found == _MARK:
            return None
        # Asked before: no copy outlives the one in Redis.
        now = time.monotonic()
        milliseconds = self._redis.pttl(name)
        return _read(found, expires=now + milliseconds / 1000) if milliseconds > 0 else None


def _write(answer: Answer) -> bytes:
    return orjson.dumps([answer.expires - answer.made, answer.headers]) + b"\n" + answer.body


def _read(content: bytes, *, expires: float) -> Answer:
    """Raises ValueError or TypeError for what `_write` didn't write."""
    head, _, body = content.partition(b"\n")
    seconds, headers = orjson.loads(head)
    return Answer(tuple((name, value) for name, value in headers), body, expires - seconds, expires)
