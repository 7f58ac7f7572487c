"""Single-flight fetches with a cache in Redis: one process calls the outside service, the others wait for its response.

A cache entry is fresh at first; then it is stale, and is returned if no fetch succeeds. The service's circuit breaker
limits the fetches that fail. Few threads in a process fetch or wait at a time; the others get the stale entry or an
error at once. Without Redis each process does the same for itself, with fresh entries only.

An entry's name contains the version of its schema: after an upgrade, Redis still holds the earlier release's entries.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson
from cachetools import TTLCache, cached
from redis.exceptions import LockError, RedisError

from config.http.errors import NoResponseError, PermanentError, RetryableError
from config.processes.concurrency_limits import BusyError, shared_run_slot
from config.redis.connection import PREFIX, redis_client

logger = logging.getLogger(__name__)

_POLL_SECONDS = 0.05
# Fast views free their slots within this time; views that hang do not.
_SLOT_TIMEOUT_SECONDS = 0.2
# While Redis is unavailable, a process caches this many entries, with this TTL in seconds.
_PROCESS_ENTRIES, _PROCESS_TTL_SECONDS = 1000, 300


@dataclass(frozen=True, kw_only=True)
class CacheTimes:
    """Times of a cache entry, in seconds."""

    fresh: float
    # The entry's TTL, from the same instant; at least `fresh`.
    ttl: float
    # Timeout for processes that wait for the leader.
    wait_timeout: float
    # TTL for the leader's lock, so that a crashed leader blocks nothing.
    lock_ttl: float


@dataclass(frozen=True)
class FetchResult:
    """Cached response after a JSON round trip; `is_stale` if it is no longer fresh."""

    value: Any
    is_stale: bool = False


def fetch_shared(name: str, fetch: Callable[[], Any], *, times: CacheTimes) -> FetchResult:
    """Return the cache entry, or fetch a new one with `fetch`, which one caller runs at a time.

    `fetch` returns a JSON-serializable value. Without a cache entry, its RetryableError or PermanentError is raised.
    Raises NoResponseError if another caller's fetch takes too long, and BusyError if too many threads in this process
    fetch or wait.
    """
    try:
        return _fetch_with_redis(f"{PREFIX}shared:{name}", fetch, times)
    except RedisError as error:
        logger.warning("Responses from outside services are not shared: %s", error)
        with _process_lock:
            if name in _process_entries:
                return FetchResult(_process_entries[name])
        with shared_run_slot(timeout=_SLOT_TIMEOUT_SECONDS):
            return FetchResult(_fetch_in_process(name, fetch))


def _fetch_with_redis(key: str, fetch: Callable[[], Any], times: CacheTimes) -> FetchResult:
    entry = _read(key, times)
    if entry and not entry.is_stale:
        return entry
    try:
        with shared_run_slot(timeout=_SLOT_TIMEOUT_SECONDS):
            return _fetch_or_wait(key, fetch, times)
    except BusyError:
        if entry:
            return entry
        raise


def _fetch_or_wait(key: str, fetch: Callable[[], Any], times: CacheTimes) -> FetchResult:
    deadline = time.monotonic() + times.wait_timeout
    lock = redis_client().lock(f"{key}:lock", timeout=times.lock_ttl, blocking=False)
    while True:
        entry = _read(key, times)
        if entry and not entry.is_stale:
            return entry
        if lock.acquire():
            try:
                return _fetch_as_leader(key, fetch, times)
            finally:
                # The lock may have expired; losing it does not invalidate the response.
                with suppress(LockError, RedisError):
                    lock.release()
        if entry:
            return entry
        if time.monotonic() > deadline:
            raise NoResponseError("no response in time")
        time.sleep(_POLL_SECONDS)


def _fetch_as_leader(key: str, fetch: Callable[[], Any], times: CacheTimes) -> FetchResult:
    # Another process may have fetched it between the read and the lock.
    entry = _read(key, times)
    if entry and not entry.is_stale:
        return entry
    try:
        value = fetch()
    except (RetryableError, PermanentError) as error:
        if not entry:
            raise
        logger.warning("Returning a stale response, because the fetch failed: %s", error)
        return entry
    try:
        redis_client().set(key, orjson.dumps(value), px=round(times.ttl * 1000))
    except RedisError as error:
        logger.warning("A response can't be cached: %s", error)
    return FetchResult(value)


def _read(key: str, times: CacheTimes) -> FetchResult | None:
    with redis_client().pipeline(transaction=False) as pipeline:
        pipeline.get(key)
        pipeline.pttl(key)
        content, remaining_ms = pipeline.execute()
    if content is None:
        return None
    # The TTL gives the age by one clock, Redis's own.
    return FetchResult(orjson.loads(content), is_stale=times.ttl - remaining_ms / 1000 >= times.fresh)


_process_entries: TTLCache[str, Any] = TTLCache(_PROCESS_ENTRIES, _PROCESS_TTL_SECONDS)
_process_lock = threading.Condition()


# With a condition, concurrent callers with one name wait for the first caller.
@cached(_process_entries, key=lambda name, fetch: name, condition=_process_lock)
def _fetch_in_process(name: str, fetch: Callable[[], Any]) -> Any:
    return fetch()
