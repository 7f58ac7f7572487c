"""Which tokens somebody looks at, as a hint to the market data: noted by requests, taken up by the worker.

A request pays for a set in memory; every other second one of a process's requests hands the set to Redis. What a
process noted last may never arrive, and neither does what Redis loses: it is a hint.
"""

import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from redis.exceptions import RedisError

from config.redis.connection import PREFIX, redis

VIEWED_KEY = f"{PREFIX}market:viewed"

FLUSH_EVERY_SECONDS = 2.0
# A crawler that walks a long list is nobody whose tokens matter more than others'.
_MOST_NOTED = 10_000
_MOST_KEPT = 100_000

_noted: set[int] = set()
_next_flush = 0.0
_lock = threading.Lock()


def note_viewed(token_ids: Iterable[int]) -> None:
    """Note that somebody looked at these tokens. Never raises for Redis, and calls it once in two seconds at most."""
    global _next_flush
    now = time.monotonic()
    with _lock:
        if len(_noted) < _MOST_NOTED:
            _noted.update(token_ids)
        if not _noted or now < _next_flush:
            return
        ids = list(_noted)
        _noted.clear()
        _next_flush = now + FLUSH_EVERY_SECONDS
    with suppress(RedisError):
        _hand_over(ids)


def take(count: int) -> list[int]:
    """The ids of up to so many tokens that were viewed, which are then forgotten. Raises RedisError."""
    popped: Any = redis().zpopmax(VIEWED_KEY, count)
    return [int(member) for member, _ in popped]


def _hand_over(ids: list[int]) -> None:
    now = time.time()
    with redis().pipeline() as pipeline:
        pipeline.zadd(VIEWED_KEY, {str(token_id): now for token_id in ids})
        # The last viewed ones stay.
        pipeline.zremrangebyrank(VIEWED_KEY, 0, -_MOST_KEPT - 1)
        pipeline.execute()
