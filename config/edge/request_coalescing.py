"""Request coalescing over all processes: one runs the view, and the others take its response from Redis.

The key first holds a marker of the leader, then its response for the rest of its TTL. Redis's expiry is the only clock:
processes need no common time.
"""

import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson
from redis.exceptions import RedisError

from config.edge.cached_responses import CachedResponse
from config.redis.connection import client_for

logger = logging.getLogger(__name__)

_MARKER = b"running"
_POLL_SECONDS = 0.005


@dataclass(frozen=True)
class RunClaim:
    """Role of a process: serve the response; or run the view, and publish the response if it `is_leader`."""

    cached: CachedResponse | None = None
    is_leader: bool = False
    # Seconds of the monotonic clock.
    started: float = 0.0


class RequestCoalescer:
    """Coordinator of view runs; thread-safe and fork-safe. Without Redis every process runs the view."""

    def __init__(self, url: str, *, wait_timeout: float = 1.0) -> None:
        """Wait `wait_timeout` for other processes' runs; a dead leader's marker expires after twice as long."""
        self._redis = client_for(url)
        self._wait_timeout = wait_timeout
        self._marker_ttl = 2 * wait_timeout

    def claim_run(self, name: str) -> RunClaim:
        """Become the leader with one command, or wait for the response of the current leader."""
        started = time.monotonic()
        try:
            found = self._redis.set(name, _MARKER, nx=True, get=True, px=int(self._marker_ttl * 1000))
            return RunClaim(is_leader=True, started=started) if found is None else RunClaim(self._wait_for(name, found))
        except RedisError:
            return RunClaim()
        except (ValueError, TypeError) as error:
            logger.warning("A Redis key of the edge cache is not a response: %s", error)
            return RunClaim()

    def release_run(self, claim: RunClaim, name: str, cached: CachedResponse | None) -> None:
        """Publish the leader's response for its remaining TTL; without one, the others run the view at once."""
        if not claim.is_leader:
            return
        now = time.monotonic()
        milliseconds = int((cached.expires - now) * 1000) if cached else 0
        with suppress(RedisError):
            if cached and milliseconds > 0:
                self._redis.set(name, _write(cached), px=milliseconds)
            elif now - claim.started < self._marker_ttl:
                # Later the marker has expired, and a present one is another process's.
                self._redis.delete(name)

    def _wait_for(self, name: str, found: Any) -> CachedResponse | None:
        """Return the leader's response; None if it is not cacheable, or not in time."""
        until = time.monotonic() + self._wait_timeout
        while found == _MARKER and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            found = self._redis.get(name)
        if found is None or found == _MARKER:
            return None
        # Measured before the query: no copy outlives the entry in Redis.
        now = time.monotonic()
        milliseconds = self._redis.pttl(name)
        return _read(found, expires=now + milliseconds / 1000) if milliseconds > 0 else None


def _write(cached: CachedResponse) -> bytes:
    return orjson.dumps([cached.expires - cached.made, cached.headers]) + b"\n" + cached.body


def _read(content: bytes, *, expires: float) -> CachedResponse:
    """Parse a published response. Raises ValueError or TypeError for any other content."""
    head, _, body = content.partition(b"\n")
    seconds, headers = orjson.loads(head)
    return CachedResponse(tuple((name, value) for name, value in headers), body, expires - seconds, expires)
