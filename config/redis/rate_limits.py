"""How many calls of one kind pass within a window of time, counted in Redis for all processes together."""

import hashlib
from dataclasses import dataclass
from typing import Any

from redis import ConnectionPool, RedisError
from redis.exceptions import NoScriptError

from config.http.json_client import Retryable
from config.redis import call_counts
from config.redis.connection import PREFIX, redis

# Windows are measured in milliseconds, and a shorter one would be over before its first answer is here.
_SHORTEST_SECONDS = 0.01

# Redis drops a key when its time is past, not merely reached: one millisecond less makes the window exactly as long as
# it should be. A key that lost its expiry would refuse for ever, so each call looks for it. With a second key, the
# call goes into the counts that a worker takes from there.
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
# The name under which Redis keeps the script.
_COUNT_SHA1 = hashlib.sha1(_COUNT.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of one call, and what is left for the next ones.

    Whoever waits `reset_seconds`, which is exact to the millisecond, finds a new window.
    """

    allowed: bool
    limit: int
    remaining: int
    reset_seconds: float


class CountersUnavailable(Retryable):
    """Redis gives no answer, so that nobody knows whether the call may pass: its maker decides."""


def take(name: str, *, limit: int, seconds: float, usage: str = "") -> Verdict:
    """Count one call of this name, and say whether it is among the first `limit` of its window.

    A window begins with its first call and lasts `seconds` (0.01 or more), also for later callers who name another
    length. Refused calls make it no longer. One round trip to Redis, in which the call is counted as this `usage`, too
    (a field of `config.redis.call_counts`), whether it passes or not. Raises CountersUnavailable, at once while the
    server has lately given no answer, and ValueError for a limit that is none.
    """
    if limit < 1 or seconds < _SHORTEST_SECONDS:
        raise ValueError(f"{limit} per {seconds} s is no limit")
    count, left = _count(f"{PREFIX}limit:{name}", round(seconds * 1000), usage)
    return Verdict(allowed=count <= limit, limit=limit, remaining=max(limit - count, 0), reset_seconds=left / 1000)


def _count(key: str, milliseconds: int, usage: str) -> tuple[int, int]:
    """How many calls the window has with this one, and the milliseconds until it ends."""
    words: tuple[str | int, ...] = (1, key, milliseconds)
    if usage:
        words = (2, key, call_counts.LIVE, milliseconds, usage, call_counts.new_name())
    client = redis()
    try:
        with client.attempts.attempt():
            count, left = _run_script(client.connection_pool, *words)
    except RedisError as error:
        raise CountersUnavailable("no answer from Redis") from error
    return count, left


def _run_script(pool: ConnectionPool, *words: str | int) -> Any:
    try:
        return _ask(pool, "EVALSHA", _COUNT_SHA1, *words)
    except NoScriptError:
        # The server is new, or was started again.
        return _ask(pool, "EVAL", _COUNT, *words)


def _ask(pool: ConnectionPool, *command: str | int) -> Any:
    """The reply to one command, by a connection alone: redis-py's client would take as long again."""
    # Any, since redis-py leaves its connections' methods without types.
    connection: Any = pool.get_connection()
    try:
        connection.send_command(*command)
        return connection.read_response()
    except BaseException:
        # Its reply may be on the way, and would be taken for the next command's.
        connection.disconnect()
        raise
    finally:
        pool.release(connection)
