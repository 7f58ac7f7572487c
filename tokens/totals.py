"""How many tokens a selection holds: counted up to a limit, and beyond it by a worker, whose count is kept for a while.

Counting a million rows takes most of a second, and nobody waits for that: until the count is there, the answer is the
planner's estimate, and says so.
"""

import functools
import hashlib
import json
import logging
import time
from dataclasses import dataclass

from django.core.cache import cache
from django.db import connection, transaction
from redis.exceptions import RedisError

from tokens.search import entry_match
from tokens.selections import Selection
from tokens.statements import Statement

logger = logging.getLogger(__name__)

EXACT_UP_TO = 10_000
# From there on the planner's estimate may be wrong by a lot and there are still more than the limit.
_CERTAINLY_BEYOND = 5 * EXACT_UP_TO
KEPT_SECONDS = 60
# From then on a count that is asked for is made anew, so that the next one is there before it is gone.
REFRESHED_SECONDS = 30
# A worker's own count; no list is worth more of the database.
_COUNT_TIMEOUT_MS = 60_000
# Up to the limit the planner would rather read the table until it has enough, which is quick where they are spread
# evenly, and reads everything where they are not.
_FROM_INDEX = "SET LOCAL enable_seqscan = off; "


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
    number, counted_at = _read_kept(selection, int(time.time())) or (0, 0.0)
    if number <= EXACT_UP_TO:
        return None
    return Total(number, wants_count=time.time() - counted_at > REFRESHED_SECONDS)


def beyond_limit(selection: Selection) -> Total:
    """The planner's estimate for a selection that is known to hold more than the limit."""
    return Total(max(_estimate(selection), EXACT_UP_TO + 1), is_exact=False, wants_count=True)


def certainly_beyond_limit(selection: Selection) -> Total | None:
    """The planner's estimate where that is far beyond the limit; None where it is for a count to say."""
    if _read_kept(selection, int(time.time())):
        # A worker has counted few, so that the estimate is far too high.
        return None
    estimate = _estimate(selection)
    return Total(estimate, is_exact=False, wants_count=True) if estimate > _CERTAINLY_BEYOND else None


def count(selection: Selection) -> int:
    """Count all tokens of a selection, for as long as it takes, and keep the number.

    A small one, too: it tells that an estimate was far too high.
    """
    statement = _all_tokens(selection)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = {_COUNT_TIMEOUT_MS}")
        cursor.execute(f"SELECT count(*) FROM ({statement.sql}) AS selected", statement.parameters)
        number = int(cursor.fetchone()[0])
    cache.set(_key(selection), (number, time.time()), KEPT_SECONDS)
    return number


def claim_count(selection: Selection) -> bool:
    """Whether the caller is the one who should have a worker count; for a while there is only one."""
    claims = _claims(selection, int(time.time()))
    return bool(claims) and claims.pop()


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
def _read_kept(selection: Selection, second: int) -> tuple[int, float] | None:
    """The kept count and when it was made; asked once a second, so that hot lists cost the cache nothing."""
    try:
        kept: tuple[int, float] | None = cache.get(_key(selection))
    except RedisError as error:
        logger.warning("can't read a kept count: %s", error)
        return None
    return kept


@functools.lru_cache(maxsize=4096)
def _claims(selection: Selection, second: int) -> list[bool]:
    """What the cache says to this process, once a second; it is said to whoever takes it from the list."""
    try:
        return [bool(cache.add(f"{_key(selection)}:claim", 1, REFRESHED_SECONDS))]
    except RedisError:
        return []


def _key(selection: Selection) -> str:
    return "total:" + hashlib.sha256(repr(selection).encode()).hexdigest()
