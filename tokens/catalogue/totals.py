"""Token list totals: exact up to a limit, and beyond it counted by a worker and cached in Redis.

Counting a million rows takes most of a second, too long for a request. Until a worker's count is cached, the total is
the planner's estimate and marked as such. Workers count one selection at a time.
"""

import functools
import hashlib
import json
import time
from contextlib import suppress
from dataclasses import dataclass

import orjson
from django.conf import settings
from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled
from redis.exceptions import RedisError

from config.postgresql.compiled_queries import CompiledQuery
from config.postgresql.replica import read_connection
from config.postgresql.timeouts import StatementTimeoutError, fetch_before_deadline
from config.redis.connection import PREFIX, redis_client
from tokens.catalogue.list_statements import ListStatements
from tokens.catalogue.selections import Selection

EXACT_UP_TO = 10_000
# Above this estimate the total exceeds the limit even if the planner is wrong by a wide margin.
_SURELY_LARGE = 5 * EXACT_UP_TO
TOTAL_TTL_SECONDS = 60
# Age from which a request for a cached count triggers the next count, which replaces it before it expires.
REFRESH_AFTER_SECONDS = 30
# TTL for results without a usable count: a total within the limit, which corrects an estimate that is far too high, or
# a count that exceeded its time limit.
NO_TOTAL_TTL_SECONDS = 3600
# Statement timeout for a worker's count, and for an unfiltered list's count; indexing needs the database, too.
_COUNT_TIMEOUT_SECONDS = 20
# The share of SEARCH_TIMEOUT_MS that a filtered list's count may take, 0.25 s by default: it may skip almost all rows.
_FILTERED_COUNT_PART = 1 / 6
# TTL for the claim that serializes counts, if its worker crashes: time in the queue, the count itself, and a margin.
_CLAIM_TTL_SECONDS = REFRESH_AFTER_SECONDS + _COUNT_TIMEOUT_SECONDS + 10
CLAIM_KEY = f"{PREFIX}counting"
# TTL for the process-local cache in front of Redis.
_LOCAL_TTL_SECONDS = 1
# TTL for the claim after a count, so that a slow request with an older local cache claims no second count.
_COUNTED_TTL_SECONDS = _LOCAL_TTL_SECONDS + 2
# Forces an index. The planner prefers a sequential scan that stops at the limit, which is fast if matches are spread
# evenly and reads the whole table if they are not.
_INDEX_SCAN_SETTINGS = ("enable_seqscan = off",)


@dataclass(frozen=True)
class _StoredCount:
    """A worker's count. `number` is None if it exceeded its time limit; `counted_at` is in Unix seconds."""

    number: int | None
    counted_at: float


@dataclass(frozen=True)
class Total:
    """Number of tokens in a list."""

    number: int
    is_exact: bool = True
    # Whether a worker should count the list.
    needs_count: bool = False


def fetch_total(statements: ListStatements) -> Total:
    """Return the number of tokens: exact up to the limit, or if a count is cached, otherwise an estimate."""
    return fetch_large_total(statements) or _count_to_limit(statements)


def fetch_large_total(statements: ListStatements) -> Total | None:
    """Return a worker's cached count beyond the limit, or an estimate far beyond it; None if there is neither."""
    stored = _read_stored_count(statements.selection, int(time.time()))
    if stored and stored.number is not None:
        # A count within the limit corrects an estimate that is far too high: the list is counted on each request.
        needs_count = time.time() - stored.counted_at > REFRESH_AFTER_SECONDS
        total, lower_bound = Total(stored.number, needs_count=needs_count), EXACT_UP_TO
    elif statements.selection.has_filters:
        # To read the first matches of a frequent filter, PostgreSQL may build a hash table with all matches.
        total, lower_bound = estimated_total(statements, at_least=0), _SURELY_LARGE
    else:
        return None
    return total if total.number > lower_bound else None


def estimated_total(statements: ListStatements, *, at_least: int = EXACT_UP_TO + 1) -> Total:
    """Return the planner's estimate; by default for a selection that exceeds the limit."""
    stored = _read_stored_count(statements.selection, int(time.time()))
    # A count that exceeded its time limit would only occupy a worker again.
    needs_count = stored is None or stored.number is not None
    return Total(max(_estimate_rows(statements.ids), at_least), is_exact=False, needs_count=needs_count)


def count_tokens(selection: Selection) -> int | None:
    """Count all tokens in a selection and cache the number; None if the time limit was exceeded, cached as well.

    Numbers within the limit are cached, too, because they correct an estimate. Releases the claim soon after.
    """
    try:
        number = _count(ListStatements.of(selection).ids)
        seconds = NO_TOTAL_TTL_SECONDS if number is None or number <= EXACT_UP_TO else TOTAL_TTL_SECONDS
        with suppress(RedisError):
            redis_client().set(_key(selection), orjson.dumps([number, time.time()]), ex=seconds)
        return number
    finally:
        with suppress(RedisError):
            redis_client().expire(CLAIM_KEY, _COUNTED_TTL_SECONDS)


def claim_count() -> bool:
    """Claim the next count; return False if another count is in progress or Redis is unavailable."""
    try:
        return bool(redis_client().set(CLAIM_KEY, 1, nx=True, ex=_CLAIM_TTL_SECONDS))
    except RedisError:
        return False


def _count(ids: CompiledQuery) -> int | None:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = '{_COUNT_TIMEOUT_SECONDS}s'")
            cursor.execute(f"SELECT count(*) FROM ({ids.sql}) AS selected", ids.parameters)
            return int(cursor.fetchone()[0])
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            return None
        raise


def _estimate_rows(ids: CompiledQuery) -> int:
    with read_connection().cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {ids.sql}", ids.parameters)
        plan = cursor.fetchone()[0]
    plan = json.loads(plan) if isinstance(plan, str) else plan
    return int(plan[0]["Plan"]["Plan Rows"])


def _count_to_limit(statements: ListStatements) -> Total:
    """Count up to the limit. If the count exceeds its time limit, return the worker's last count, else an estimate."""
    ids = statements.ids
    count = CompiledQuery(f"SELECT count(*) FROM ({ids.sql} LIMIT {EXACT_UP_TO + 1}) AS selected", ids.parameters)
    filtered_seconds = _FILTERED_COUNT_PART * settings.SEARCH_TIMEOUT_MS / 1000
    deadline = time.monotonic() + (filtered_seconds if statements.selection.has_filters else _COUNT_TIMEOUT_SECONDS)
    try:
        ((number,),) = fetch_before_deadline(count, deadline=deadline, settings=_INDEX_SCAN_SETTINGS)
    except StatementTimeoutError:
        stored = _read_stored_count(statements.selection, int(time.time()))
        if stored and stored.number is not None:
            return Total(stored.number, is_exact=False)
        return estimated_total(statements, at_least=0)
    return Total(number) if number <= EXACT_UP_TO else estimated_total(statements)


@functools.lru_cache(maxsize=4096)
def _read_stored_count(selection: Selection, second: int) -> _StoredCount | None:
    """Return the cached count. The argument `second` keeps the local cache for _LOCAL_TTL_SECONDS, one second."""
    try:
        content = redis_client().get(_key(selection))
    except RedisError:
        return None
    return None if content is None else _StoredCount(*orjson.loads(content))


def _key(selection: Selection) -> str:
    return f"{PREFIX}total:" + hashlib.sha256(repr(selection).encode()).hexdigest()
