"""Single-flight fetches with a cache in Redis: one process calls the outside service, the others wait for its response.

A cache entry is fresh at first; then it is stale, and is returned if the service is down. A failure starts a back-off
in which no process calls the service. Without Redis each process does the same for itself.

The name of an entry contains the version of its schema: after an upgrade, Redis still holds entries of the earlier
release.
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

from config.http.errors import PermanentError, RateLimitedError, RetryableError
from config.redis.connection import PREFIX, redis_client

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.05


@dataclass(frozen=True, kw_only=True)
class CacheTimes:
    """Times of a cache entry, in seconds."""

    fresh: float
    # TTL of the entry, from the same instant; at least `fresh`.
    ttl: float
    # Back-off after a failure.
    backoff: float
    # Timeout of processes that wait for the leader.
    wait_timeout: float
    # TTL of the leader's lock, so that a crashed leader blocks nothing.
    lock_ttl: float


@dataclass(frozen=True)
class FetchResult:
    """Cached response after a JSON round trip; `is_stale` if it is no longer fresh."""

    value: Any
    is_stale: bool = False


class FetchFailedError(Exception):
    """No response is available, and no process fetches one for `retry_after` seconds."""

    def __init__(self, text: str, *, retry_after: float) -> None:
        super().__init__(text)
        self.retry_after = retry_after


def fetch_shared(
    name: str, fetch: Callable[[], Any], *, times: CacheTimes, not_attempted: type[Exception]
) -> FetchResult:
    """Return the cache entry, or fetch a new one with `fetch`, which one caller runs at a time.

    `fetch` returns a JSON-serializable value and raises RetryableError or PermanentError. A `not_attempted` exception
    means that the service was not called, which is not a failure: the next caller may try at once. Without a cache
    entry that exception propagates, and FetchFailedError is raised if the fetch failed.
    """
    try:
        return _SharedFetch(name, fetch, times, not_attempted).get()
    except RedisError as error:
        logger.warning("Responses of outside services are not shared: %s", error)
        return _fetch_without_redis(name, fetch, times, not_attempted)


class _SharedFetch:
    def __init__(self, name: str, fetch: Callable[[], Any], times: CacheTimes, not_attempted: type[Exception]) -> None:
        self._fetch, self._times, self._not_attempted = fetch, times, not_attempted
        self._entry_key = f"{PREFIX}shared:{name}"
        self._failure_key = f"{self._entry_key}:failure"
        self._lock = redis_client().lock(f"{self._entry_key}:lock", timeout=times.lock_ttl, blocking=False)

    def get(self) -> FetchResult:
        deadline = time.monotonic() + self._times.wait_timeout
        while True:
            entry, result = self._read()
            if result:
                return result
            if self._lock.acquire():
                try:
                    return self._fetch_as_leader()
                finally:
                    # The lock may have expired; losing it does not invalidate the response.
                    with suppress(LockError, RedisError):
                        self._lock.release()
            if entry:
                return entry
            if time.monotonic() > deadline:
                raise FetchFailedError("no response in time", retry_after=self._times.backoff)
            time.sleep(_POLL_SECONDS)

    def _fetch_as_leader(self) -> FetchResult:
        # Another process may have fetched it between the read and the lock.
        entry, result = self._read()
        if result:
            return result
        try:
            value = self._fetch()
        except self._not_attempted:
            if entry:
                return entry
            raise
        except (RetryableError, PermanentError) as error:
            backoff = _backoff_after(error, self._times)
            self._store(self._failure_key, _write_failure(error, backoff), seconds=backoff)
            if entry:
                logger.warning("Returning a stale response, because the fetch failed: %s", error)
                return entry
            raise FetchFailedError(str(error), retry_after=backoff) from error
        self._store(self._entry_key, orjson.dumps(value), seconds=self._times.ttl)
        return FetchResult(value)

    def _read(self) -> tuple[FetchResult | None, FetchResult | None]:
        """Return the cache entry, and again if no fetch is needed.

        Raises FetchFailedError after a failure without an entry.
        """
        with redis_client().pipeline(transaction=False) as pipeline:
            pipeline.get(self._entry_key)
            pipeline.pttl(self._entry_key)
            pipeline.get(self._failure_key)
            content, left, failure = pipeline.execute()
        entry = None
        if content is not None:
            # Its TTL gives its age by one clock, that of Redis.
            age = self._times.ttl - left / 1000
            entry = FetchResult(orjson.loads(content), is_stale=age >= self._times.fresh)
        if entry and not entry.is_stale:
            return entry, entry
        if failure is not None and not entry:
            raise _read_failure(failure)
        return entry, entry if failure is not None else None

    def _store(self, key: str, content: bytes, *, seconds: float) -> None:
        try:
            redis_client().set(key, content, px=round(seconds * 1000))
        except RedisError as error:
            logger.warning("A response can't be cached: %s", error)


def _backoff_after(error: Exception, times: CacheTimes) -> float:
    retry_after = error.retry_after if isinstance(error, RateLimitedError) else None
    return max(times.backoff, min(retry_after or 0, times.fresh))


def _write_failure(error: Exception, backoff: float) -> bytes:
    return orjson.dumps({"text": str(error), "until": time.time() + backoff})


def _read_failure(content: bytes) -> FetchFailedError:
    entry = orjson.loads(content)
    return FetchFailedError(entry["text"], retry_after=max(entry["until"] - time.time(), 1.0))


@dataclass
class _ProcessEntry:
    """State of one process; times are of its monotonic clock."""

    lock: threading.Lock
    value: Any = None
    fetched_at: float | None = None
    # The last failure: its text, because each caller gets an exception of its own, and the end of the back-off.
    failure: str = ""
    retry_at: float = 0.0


_process_entries: dict[str, _ProcessEntry] = {}


def _fetch_without_redis(
    name: str, fetch: Callable[[], Any], times: CacheTimes, not_attempted: type[Exception]
) -> FetchResult:
    # Atomic: concurrent first callers must get the same lock.
    local = _process_entries.setdefault(name, _ProcessEntry(threading.Lock()))
    with local.lock:
        now = time.monotonic()
        age = None if local.fetched_at is None else now - local.fetched_at
        if age is not None and age < times.fresh:
            return FetchResult(local.value)
        entry = FetchResult(local.value, is_stale=True) if age is not None and age < times.ttl else None
        if now < local.retry_at:
            if entry:
                return entry
            raise FetchFailedError(local.failure, retry_after=max(local.retry_at - now, 1.0))
        try:
            local.value, local.fetched_at = fetch(), now
        except not_attempted:
            if entry:
                return entry
            raise
        except (RetryableError, PermanentError) as error:
            backoff = _backoff_after(error, times)
            local.failure, local.retry_at = str(error), now + backoff
            if entry:
                return entry
            raise FetchFailedError(local.failure, retry_after=backoff) from error
        return FetchResult(local.value)
