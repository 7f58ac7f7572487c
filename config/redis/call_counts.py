"""How often what was called, counted in Redis until a worker takes the counts away in batches.

Counts lie in one hash from the first call on, under a name that is made with it. Taking moves the hash as a whole, so
that every call is in exactly one batch; the batch stays, and is handed out again, until it is dropped by its name.
Whoever has stored a batch remembers the name: it is the same after a crash, and in a Redis that comes back from an old
copy of itself.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from redis import RedisError

from config.http.json_client import Retryable
from config.redis.connection import PREFIX, redis

LIVE = f"{PREFIX}calls"
_TAKEN = f"{PREFIX}calls:taken"
# No field of a count: those begin with a day.
_NAME = "name"

# A line of Lua: the first call of a field may be the first of the hash, which is named then.
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
class Calls:
    """What is counted together: the calls of one caller to one endpoint, by its route's name, in one day of UTC."""

    day: date
    caller: int
    endpoint: str


@dataclass(frozen=True)
class Batch:
    """Counts that change no more."""

    name: str
    counts: Mapping[Calls, int]


class CountsUnavailable(Retryable):
    """Redis gives no answer."""


def field(*, day: date, caller: int, endpoint: str) -> str:
    """The field under which these calls are counted."""
    return f"{day} {caller} {endpoint}"


def _read(field: str) -> Calls:
    day, caller, endpoint = field.split(" ", 2)
    return Calls(date.fromisoformat(day), int(caller), endpoint)


def new_name() -> str:
    """A name that no batch has had, for a hash that begins."""
    return secrets.token_hex(16)


def count(field: str) -> None:
    """Count one call of this field. Without Redis it is not counted, and nothing is raised."""
    script = COUNT_ONE.format(key="KEYS[1]", field="ARGV[1]", name="ARGV[2]")
    try:
        redis().eval(script, 1, LIVE, field, new_name())
    except RedisError:
        # What the client has said in the log.
        return


def take() -> Batch | None:
    """The batch that waits to be dropped, or else all that was counted until now; None where nothing was.

    Several who take at once get the same batch. Raises CountsUnavailable.
    """
    try:
        words = redis().eval(_TAKE, 2, LIVE, _TAKEN)
    except RedisError as error:
        raise CountsUnavailable("no answer from Redis") from error
    texts = [word.decode() for word in words]
    found = dict(zip(texts[::2], texts[1::2], strict=True))
    if not found:
        return None
    name = found.pop(_NAME)
    return Batch(name, {_read(field): int(number) for field, number in found.items()})


def drop(batch: Batch) -> None:
    """Forget the batch, which is stored elsewhere by now; another one stays. Raises CountsUnavailable."""
    try:
        redis().eval(_DROP, 1, _TAKEN, batch.name)
    except RedisError as error:
        raise CountsUnavailable("no answer from Redis") from error
