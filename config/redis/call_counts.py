"""Call counters in Redis, which a worker collects in batches.

All counters are fields in one hash, which gets a random name with its first call. Taking a batch renames the whole
hash, so that every call is in exactly one batch. The batch stays, and is returned again, until it is dropped by name. A
worker that stored a batch records the name: it is the same after a crash, and in a Redis restored from an old copy.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from redis import RedisError

from config.http.errors import RetryableError
from config.redis.connection import PREFIX, redis_client

LIVE = f"{PREFIX}calls"
_TAKEN = f"{PREFIX}calls:taken"
# No counter has this field name: counters begin with a date.
_NAME = "name"

# Lua: a field's first call may be the hash's first, which then gets its name.
COUNT_ONE = (
    "if redis.call('HINCRBY', {key}, {field}, 1) == 1 then redis.call('HSETNX', {key}, '" + _NAME + "', {name}) end"
)
_TAKE = """
if redis.call('EXISTS', KEYS[2]) == 0 then
  if redis.call('EXISTS', KEYS[1]) == 0 then return {} end
  redis.call('RENAME', KEYS[1], KEYS[2])
end
return redis.call('HGETALL', KEYS[2])
"""
_DROP = f"""
if redis.call('HGET', KEYS[1], '{_NAME}') == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


@dataclass(frozen=True, order=True)
class CountedCalls:
    """Counter key: caller, endpoint (route name) and day in UTC."""

    day: date
    caller: int
    endpoint: str


@dataclass(frozen=True)
class CountBatch:
    """Immutable batch of counters."""

    name: str
    counts: Mapping[CountedCalls, int]


class CountsUnavailableError(RetryableError):
    """Redis does not respond."""


def count_field(*, day: date, caller: int, endpoint: str) -> str:
    """Return the hash field that counts these calls."""
    return f"{day} {caller} {endpoint}"


def _read(field: str) -> CountedCalls:
    day, caller, endpoint = field.split(" ", 2)
    return CountedCalls(date.fromisoformat(day), int(caller), endpoint)


def new_batch_name() -> str:
    """Return a unique name for a new hash."""
    return secrets.token_hex(16)


def increment_count(field: str) -> None:
    """Increment this field's counter. Without Redis nothing is counted, and nothing is raised."""
    script = COUNT_ONE.format(key="KEYS[1]", field="ARGV[1]", name="ARGV[2]")
    try:
        redis_client().eval(script, 1, LIVE, field, new_batch_name())
    except RedisError:
        # The client has logged it.
        return


def take_batch() -> CountBatch | None:
    """Return the pending batch, or else all counters so far as a new batch; None if there are none.

    Concurrent callers get the same batch. Raises CountsUnavailableError.
    """
    try:
        words = redis_client().eval(_TAKE, 2, LIVE, _TAKEN)
    except RedisError as error:
        raise CountsUnavailableError("no response from Redis") from error
    texts = [word.decode() for word in words]
    number_by_field = dict(zip(texts[::2], texts[1::2], strict=True))
    if not number_by_field:
        return None
    name = number_by_field.pop(_NAME)
    return CountBatch(name, {_read(field): int(number) for field, number in number_by_field.items()})


def drop_batch(batch: CountBatch) -> None:
    """Delete the batch once it is stored elsewhere; any other batch stays. Raises CountsUnavailableError."""
    try:
        redis_client().eval(_DROP, 1, _TAKEN, batch.name)
    except RedisError as error:
        raise CountsUnavailableError("no response from Redis") from error
