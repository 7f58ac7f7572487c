"""One caller asks for an answer that many want, however many processes they are in; the others wait for what he got.

The answer is kept in Redis: fresh for a while, and after that for as long as it may stand in where the outside service
is down. After a failure nobody asks for a pause. Without Redis each process does the same for itself.

The name of an answer holds a version of its shape: after an upgrade there are answers of the earlier release.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson
from redis.exceptions import LockError, RedisError

from config.http.json_client import Permanent, RateLimited, Retryable
from config.redis.connection import PREFIX, redis

logger = logging.getLogger(__name__)

_LOOK_EVERY_SECONDS = 0.05


@dataclass(frozen=True, kw_only=True)
class Lifetimes:
    """All in seconds."""

    fresh: float
    # Counted from the same moment; at least `fresh`.
    kept: float
    # How long nobody asks after a failure.
    pause: float
    # How long those who don't ask wait for the one who does.
    patience: float
    # After so long without a word, he who asks is taken for dead.
    longest_call: float


@dataclass(frozen=True)
class Shared:
    """An answer as it went through JSON; `is_stale` where it is no longer fresh."""

    value: Any
    is_stale: bool = False


class Failed(Exception):
    """There is no answer, and nobody asks for one within `retry_after` seconds."""

    def __init__(self, text: str, *, retry_after: float) -> None:
        super().__init__(text)
        self.retry_after = retry_after


def share(name: str, ask: Callable[[], Any], *, lifetimes: Lifetimes, not_asked: type[Exception]) -> Shared:
    """The answer that is kept under the name, or a new one, for which `ask` is called by one caller at a time.

    `ask` returns what JSON can hold and raises Retryable or Permanent. One of `not_asked` says that it didn't come to
    asking, which is no failure of the outside service: the next caller may try at once. Where no answer is kept, that
    error goes on to the caller, and Failed is raised where the asking failed.
    """
    try:
        return _Together(name, ask, lifetimes, not_asked).share()
    except RedisError as error:
        logger.warning("answers of outside services are not shared: %s", error)
        return _share_alone(name, ask, lifetimes, not_asked)


class _Together:
    def __init__(self, name: str, ask: Callable[[], Any], lifetimes: Lifetimes, not_asked: type[Exception]) -> None:
        self._ask, self._lifetimes, self._not_asked = ask, lifetimes, not_asked
        self._answer_key = f"{PREFIX}shared:{name}"
        self._failure_key = f"{self._answer_key}:failure"
        self._lock = redis().lock(f"{self._answer_key}:lock", timeout=lifetimes.longest_call, blocking=False)

    def share(self) -> Shared:
        deadline = time.monotonic() + self._lifetimes.patience
        while True:
            kept, settled = self._read()
            if settled:
                return settled
            if self._lock.acquire():
                try:
                    return self._lead()
                finally:
                    # It may have run out, and its end costs nobody the answer.
                    with suppress(LockError, RedisError):
                        self._lock.release()
            if kept:
                return kept
            if time.monotonic() > deadline:
                raise Failed("nobody got an answer in time", retry_after=self._lifetimes.pause)
            time.sleep(_LOOK_EVERY_SECONDS)

    def _lead(self) -> Shared:
        # Somebody may have asked between our look and our lock.
        kept, settled = self._read()
        if settled:
            return settled
        try:
            value = self._ask()
        except self._not_asked:
            if kept:
                return kept
            raise
        except (Retryable, Permanent) as error:
            pause = _pause_after(error, self._lifetimes)
            self._keep(self._failure_key, _write_failure(error, pause), seconds=pause)
            if kept:
                logger.warning("an answer is stale, because a new one failed: %s", error)
                return kept
            raise Failed(str(error), retry_after=pause) from error
        self._keep(self._answer_key, orjson.dumps(value), seconds=self._lifetimes.kept)
        return Shared(value)

    def _read(self) -> tuple[Shared | None, Shared | None]:
        """The kept answer, and again where there is nothing to ask for. Raises Failed after a failure without it."""
        with redis().pipeline(transaction=False) as pipeline:
            pipeline.get(self._answer_key)
            pipeline.pttl(self._answer_key)
            pipeline.get(self._failure_key)
            content, left, failure = pipeline.execute()
        kept = None
        if content is not None:
            # What is left of its life tells its age by one clock, Redis's.
            age = self._lifetimes.kept - left / 1000
            kept = Shared(orjson.loads(content), is_stale=age >= self._lifetimes.fresh)
        if kept and not kept.is_stale:
            return kept, kept
        if failure is not None and not kept:
            raise _read_failure(failure)
        return kept, kept if failure is not None else None

    def _keep(self, key: str, content: bytes, *, seconds: float) -> None:
        try:
            redis().set(key, content, px=round(seconds * 1000))
        except RedisError as error:
            logger.warning("an answer can't be kept: %s", error)


def _pause_after(error: Exception, lifetimes: Lifetimes) -> float:
    asked = error.retry_after if isinstance(error, RateLimited) else None
    return max(lifetimes.pause, min(asked or 0, lifetimes.fresh))


def _write_failure(error: Exception, pause: float) -> bytes:
    return orjson.dumps({"text": str(error), "until": time.time() + pause})


def _read_failure(content: bytes) -> Failed:
    kept = orjson.loads(content)
    return Failed(kept["text"], retry_after=max(kept["until"] - time.time(), 1.0))


@dataclass
class _Own:
    """What one process knows by itself; times are of its monotonic clock."""

    lock: threading.Lock
    value: Any = None
    asked_at: float | None = None
    # Of the last failure: its text, as every caller gets an exception of his own, and how long nobody asks.
    failure: str = ""
    paused_until: float = 0.0


_own: dict[str, _Own] = {}


def _share_alone(name: str, ask: Callable[[], Any], lifetimes: Lifetimes, not_asked: type[Exception]) -> Shared:
    # In one step: of two threads that come first, both must get the same lock.
    own = _own.setdefault(name, _Own(threading.Lock()))
    with own.lock:
        now = time.monotonic()
        age = None if own.asked_at is None else now - own.asked_at
        if age is not None and age < lifetimes.fresh:
            return Shared(own.value)
        kept = Shared(own.value, is_stale=True) if age is not None and age < lifetimes.kept else None
        if now < own.paused_until:
            if kept:
                return kept
            raise Failed(own.failure, retry_after=max(own.paused_until - now, 1.0))
        try:
            own.value, own.asked_at = ask(), now
        except not_asked:
            if kept:
                return kept
            raise
        except (Retryable, Permanent) as error:
            pause = _pause_after(error, lifetimes)
            own.failure, own.paused_until = str(error), now + pause
            if kept:
                return kept
            raise Failed(own.failure, retry_after=pause) from error
        return Shared(own.value)
