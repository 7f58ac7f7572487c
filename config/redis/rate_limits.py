"""Rate limits: fixed-window counters in Redis, shared by all processes."""

import hashlib
from dataclasses import dataclass
from typing import Any

from redis import ConnectionPool, RedisError
from redis.exceptions import NoScriptError

from config.http.errors import RetryableError
from config.redis import call_counts
from config.redis.connection import PREFIX, redis_client

# Windows are measured in milliseconds; a shorter one would end before its first response arrives.
_SHORTEST_SECONDS = 0.01

# Redis drops a key after its TTL has passed, not when it is reached: one millisecond less makes the window exact. A key
# that lost its expiry would refuse calls for ever, so each call checks it. With a second key, the script also
# increments the usage counters that a worker collects.
_COUNT = (
    "if KEYS[2] then\n  " + call_counts.COUNT_ONE.format(key="KEYS[2]", field="ARGV[2]", name="ARGV[3]") + "\nend"
    """
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = ARGV[1] - 1
  redis.call('PEXPIRE', KEYS[1], left)
end
return {count, left + 1}
"""
)
# SHA-1 digest under which Redis caches the script.
_COUNT_SHA1 = hashlib.sha1(_COUNT.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, kw_only=True)
class RateLimitResult:
    """Result of one counted call, and the remaining quota.

    `reset_seconds` is exact to the millisecond: a call after it falls into a new window.
    """

    allowed: bool
    limit: int
    remaining: int
    reset_seconds: float


class CountersUnavailableError(RetryableError):
    """Redis does not respond, so the call is not counted; the caller decides whether it passes."""


def hit(name: str, *, limit: int, seconds: float, usage: str = "") -> RateLimitResult:
    """Increment the window counter for `name` and return whether the call is within `limit`.

    A window begins with its first call and lasts `seconds` (0.01 or more), also for later callers with another
    length. Refused calls do not extend it. The same round trip counts the call under `usage` (a field of
    `config.redis.call_counts`), whether it passes or not. Raises CountersUnavailableError, at once while the circuit
    breaker is open, and ValueError for an invalid limit.
    """
    if limit < 1 or seconds < _SHORTEST_SECONDS:
        raise ValueError(f"{limit} per {seconds} s is not a limit")
    count, remaining_ms = _count(f"{PREFIX}limit:{name}", round(seconds * 1000), usage)
    return RateLimitResult(
        allowed=count <= limit, limit=limit, remaining=max(limit - count, 0), reset_seconds=remaining_ms / 1000
    )


def _count(key: str, milliseconds: int, usage: str) -> tuple[int, int]:
    """Return the window's call count with this one, and the milliseconds until it ends."""
    words: tuple[str | int, ...] = (1, key, milliseconds)
    if usage:
        words = (2, key, call_counts.LIVE, milliseconds, usage, call_counts.new_batch_name())
    client = redis_client()
    try:
        with client.circuit_breaker.guard():
            count, remaining_ms = _run_script(client.connection_pool, *words)
    except RedisError as error:
        raise CountersUnavailableError("no response from Redis") from error
    return count, remaining_ms


def _run_script(pool: ConnectionPool, *words: str | int) -> Any:
    try:
        return _send_command(pool, "EVALSHA", _COUNT_SHA1, *words)
    except NoScriptError:
        # The server's script cache is empty, as after a restart.
        return _send_command(pool, "EVAL", _COUNT, *words)


def _send_command(pool: ConnectionPool, *command: str | int) -> Any:
    """Send one command on a pooled connection and return its reply; redis-py's client would take twice as long."""
    # Any, because redis-py does not annotate its connections.
    connection: Any = pool.get_connection()
    try:
        connection.send_command(*command)
        return connection.read_response()
    except BaseException:
        # Its reply may still arrive, and would be taken for the next command's reply.
        connection.disconnect()
        raise
    finally:
        pool.release(connection)
