"""Recently viewed tokens, as a priority hint for market refreshes: recorded by requests, consumed by the worker.

A request adds to a set in memory; every two seconds one request of a process flushes the set to Redis. Views may be
lost with a process or with Redis.
"""

import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from redis.exceptions import RedisError

from config.redis.connection import PREFIX, redis_client

VIEWED_KEY = f"{PREFIX}market:viewed"

FLUSH_INTERVAL_SECONDS = 2.0
# Limits the effect of a crawler that walks a long list.
_MAX_BUFFERED = 10_000
_MAX_STORED = 100_000

_buffered: set[int] = set()
_next_flush = 0.0
_lock = threading.Lock()


def record_viewed(token_ids: Iterable[int]) -> None:
    """Record views of these tokens. Calls Redis at most once in FLUSH_INTERVAL_SECONDS and ignores its errors."""
    global _next_flush
    now = time.monotonic()
    with _lock:
        if len(_buffered) < _MAX_BUFFERED:
            _buffered.update(token_ids)
        if not _buffered or now < _next_flush:
            return
        ids = list(_buffered)
        _buffered.clear()
        _next_flush = now + FLUSH_INTERVAL_SECONDS
    with suppress(RedisError):
        _flush(ids)


def pop_viewed(count: int) -> list[int]:
    """Remove and return the ids of up to `count` viewed tokens. Raises RedisError."""
    popped: Any = redis_client().zpopmax(VIEWED_KEY, count)
    return [int(member) for member, _ in popped]


def _flush(ids: list[int]) -> None:
    now = time.time()
    with redis_client().pipeline() as pipeline:
        pipeline.zadd(VIEWED_KEY, {str(token_id): now for token_id in ids})
        # Keeps the most recent views.
        pipeline.zremrangebyrank(VIEWED_KEY, 0, -_MAX_STORED - 1)
        pipeline.execute()
