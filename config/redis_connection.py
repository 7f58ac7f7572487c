"""The Redis server itself, for what a cache can't say: sorted sets, locks, scripts. Every key begins with PREFIX."""

from functools import cache

from django.conf import settings
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

PREFIX = "launchboard:"


def redis() -> "Redis":
    """This process's client. Every call of it may raise RedisError; a server that hangs costs two seconds."""
    return _connect(settings.REDIS_URL)


@cache
def _connect(url: str) -> "Redis":
    # One more try, at once: the server may have closed a connection that lay idle.
    return Redis.from_url(url, socket_connect_timeout=1, socket_timeout=1, retry=Retry(NoBackoff(), 1))
