"""Sums of all processes in Redis: fields of one hash, to which each process adds its own every few seconds.

Lost with Redis, and then counted from 0 again, as Prometheus expects of a counter. What a process has added in its last
seconds is lost with the process.
"""

import os
import threading
import time

import orjson
from redis.exceptions import RedisError

from config.http.process_sums import SumKey, add_to_sums, take_sums
from config.redis.connection import PREFIX, redis_client

_KEY = f"{PREFIX}sums"
STORE_SECONDS = 5.0

# Ids of processes that store their sums: a fork has no thread of its parent.
_storing: set[int] = set()


def start_storing_sums() -> None:
    """Store this process's sums every STORE_SECONDS from now on. Further calls in the same process do nothing."""
    process_id = os.getpid()
    if process_id not in _storing:
        _storing.add(process_id)
        threading.Thread(target=_store_for_ever, name="sums", daemon=True).start()


def _store_for_ever() -> None:
    while True:
        time.sleep(STORE_SECONDS)
        store_sums()


def store_sums() -> None:
    """Add this process's sums to those in Redis. Without Redis they are kept for the next call."""
    taken = take_sums()
    if not taken:
        return
    try:
        with redis_client().pipeline(transaction=False) as pipeline:
            for key, amount in taken.items():
                pipeline.hincrbyfloat(_KEY, orjson.dumps(key).decode(), amount)
            pipeline.execute()
    except RedisError:
        # The client has logged it. If only the response is lost, they are added twice.
        add_to_sums(taken)


def read_sums() -> dict[SumKey, float]:
    """Return the sums of all processes. Raises RedisError."""
    stored = redis_client().hgetall(_KEY)
    return {tuple(orjson.loads(field)): float(amount) for field, amount in stored.items()}
