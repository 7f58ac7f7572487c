"""Sums over all processes in Redis: each process adds its own sums to one hash every few seconds.

Lost with Redis, and then counted from 0 again, as Prometheus expects from a counter. A process that ends loses the sums
of its last seconds.
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

# Ids of the processes that store their sums: a fork lacks its parent's threads.
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
    """Add this process's sums to the sums in Redis. Without Redis they are kept for the next call."""
    amount_by_key = take_sums()
    if not amount_by_key:
        return
    try:
        with redis_client().pipeline(transaction=False) as pipeline:
            for key, amount in amount_by_key.items():
                pipeline.hincrbyfloat(_KEY, orjson.dumps(key).decode(), amount)
            pipeline.execute()
    except RedisError:
        # The client has logged it. If only the response is lost, they are added twice.
        add_to_sums(amount_by_key)


def read_sums() -> dict[SumKey, float]:
    """Return the sums over all processes. Raises RedisError."""
    amount_by_field = redis_client().hgetall(_KEY)
    return {tuple(orjson.loads(field)): float(amount) for field, amount in amount_by_field.items()}
