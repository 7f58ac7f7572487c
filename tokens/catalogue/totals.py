"""How many tokens a selection holds: counted up to a limit, and beyond it by a worker, whose count is kept for a while.

Counting a million rows takes most of a second, and nobody waits for that: until the count is there, the answer is the
planner's estimate, and says so. Counts are kept in Redis, and lost with it; they are made one after another.
"""

import functools
import hashlib
import json
import time
from contextlib import suppress
from dataclasses import dataclass

import orjson
from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled
from redis.exceptions import RedisError

from config.postgresql.compiled_queries import Statement
from config.redis.connection import PREFIX, redis
from tokens.catalogue.selections import Selection
from tokens.catalogue.text_search import entry_match

EXACT_UP_TO = 10_000
# From there on the planner's estimate may be wrong by a lot and there are still more than the limit.
_CERTAINLY_BEYOND = 5 * EXACT_UP_TO
KEPT_SECONDS = 60
# From then on a count that is asked for is made anew, so that the next one is there before it is gone.
REFRESHED_SECONDS = 30
# What no number is kept of, is kept longer: that there are few, against estimates that are far too high, and that
# counting takes too long.
REMEMBERED_SECONDS = 3600
# A worker's own count; no list is worth more of the database, nor of the worker, who also indexes.
_COUNT_SECONDS = 20
# How long one count keeps all others back, where its worker doesn't tell of its end: it lies in the queue, it is made,
# and there is some to spare.
_CLAIM_SECONDS = REFRESHED_SECONDS + _COUNT_SECONDS + 10
CLAIM_KEY = f"{PREFIX}counting"
# How long a process remembers what Redis said of a selection, so that hot lists cost it nothing.
_UNREAD_SECONDS = 1
# Up to the limit the planner would rather read the table until it has enough, which is quick where they are spread
# evenly, and reads everything where they are not.
_FROM_INDEX = "SET LOCAL enable_seqscan = off; "


@dataclass(frozen=True)
class _Kept:
    """What a worker has found out. `number` is None where it took too long; `at` is in Unix seconds."""

    number: int | None
    at: float


@dataclass(frozen=True)
class Total:
    """A number of tokens."""

    number: int
    is_exact: bool = True
    # Whether a worker should count.
    wants_count: bool = False


def total_of(selection: Selection) -> Total:
    """How many tokens there are: exact up to the limit, or where a worker has counted within the last minute."""
    return remembered(selection) or _limited_count(selection)


def remembered(selection: Selection) -> Total | None:
    """What a worker has counted, where that is beyond the limit: fewer are counted anew each time."""
    kept = _read_kept(selection, int(time.time()))
    if kept is None or kept.number is None or kept.number <= EXACT_UP_TO:
        return None
    return Total(kept.number, wants_count=time.time() - kept.at > REFRESHED_SECONDS)


def beyond_limit(selection: Selection) -> Total:
    """The planner's estimate for a selection that is known to hold more than the limit."""
    return _estimated(selection, max(_estimate(selection), EXACT_UP_TO + 1))


def certainly_beyond_limit(selection: Selection) -> Total | None:
    """The planner's estimate where that is far beyond the limit; None where it is for a count to say."""
    kept = _read_kept(selection, int(time.time()))
    if kept and kept.number is not None:
        # A worker has counted few, so that the estimate is far too high.
        return None
    estimate = _estimate(selection)
    return _estimated(selection, estimate) if estimate > _CERTAINLY_BEYOND else None


def count(selection: Selection) -> int | None:
    """Count all tokens of a selection, and keep the number; None where that takes too long, which is kept as well.

    A small number, too: it tells that an estimate was far too high. Soon after, another count may be claimed.
    """
    try:
        number = _count(selection)
        seconds = REMEMBERED_SECONDS if number is None or number <= EXACT_UP_TO else KEPT_SECONDS
        with suppress(RedisError):
            redis().set(_key(selection), orjson.dumps([number, time.time()]), ex=seconds)
        return number
    finally:
        # Until then there are processes that remember that nothing is kept.
        with suppress(RedisError):
            redis().expire(CLAIM_KEY, _UNREAD_SECONDS)


def claim_count() -> bool:
    """Whether the caller should have a worker count: nobody else is having that done."""
    try:
        return bool(redis().set(CLAIM_KEY, 1, nx=True, ex=_CLAIM_SECONDS))
    except RedisError:
        return False


def _count(selection: Selection) -> int | None:
    statement = _all_tokens(selection)
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = '{_COUNT_SECONDS}s'")
            cursor.execute(f"SELECT count(*) FROM ({statement.sql}) AS selected", statement.parameters)
            return int(cursor.fetchone()[0])
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            return None
        raise


def _estimated(selection: Selection, number: int) -> Total:
    kept = _read_kept(selection, int(time.time()))
    # What took too long would keep a worker busy in vain again.
    return Total(number, is_exact=False, wants_count=kept is None or kept.number is not None)


def _estimate(selection: Selection) -> int:
    statement = _all_tokens(selection)
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement.sql}", statement.parameters)
        plan = cursor.fetchone()[0]
    plan = json.loads(plan) if isinstance(plan, str) else plan
    return int(plan[0]["Plan"]["Plan Rows"])


def _limited_count(selection: Selection) -> Total:
    statement = _some_tokens(selection)
    with connection.cursor() as cursor:
        # One message, which is one transaction: the setting ends with it.
        cursor.execute(f"{_FROM_INDEX}SELECT count(*) FROM ({statement.sql}) AS selected", statement.parameters)
        cursor.nextset()
        number = int(cursor.fetchone()[0])
    return Total(number) if number <= EXACT_UP_TO else beyond_limit(selection)


@functools.lru_cache(maxsize=1024)
def _some_tokens(selection: Selection) -> Statement:
    return Statement.of(selection.tokens().values_list("pk")[: EXACT_UP_TO + 1])


@functools.lru_cache(maxsize=1024)
def _all_tokens(selection: Selection) -> Statement:
    if selection.q:
        return Statement.of(selection.entries(entry_match(selection.q)).values_list("pk"))
    return Statement.of(selection.tokens().values_list("pk"))


@functools.lru_cache(maxsize=4096)
def _read_kept(selection: Selection, second: int) -> _Kept | None:
    """Asked once a second, which is _UNREAD_SECONDS."""
    try:
        content = redis().get(_key(selection))
    except RedisError:
        return None
    return None if content is None else _Kept(*orjson.loads(content))


def _key(selection: Selection) -> str:
    return f"{PREFIX}total:" + hashlib.sha256(repr(selection).encode()).hexdigest()
