"""The service's Redis client, with a circuit breaker per process. Every key begins with PREFIX.

Requests must not block on a hung server one after another. The first failed call opens the circuit: all others fail at
once. After OPEN_SECONDS one call is let through (half-open); its result closes the circuit or opens it again.
"""

import functools
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from django.conf import settings
from redis import ConnectionPool, Redis, Sentinel
from redis.backoff import NoBackoff
from redis.client import Pipeline
from redis.connection import parse_url
from redis.exceptions import ConnectionError, NoScriptError, RedisError
from redis.retry import Retry
from redis.sentinel import MasterNotFoundError, SentinelConnectionPool

from config.environment.redis_urls import REDIS_FORM, SENTINEL_LIMITS, Sentinels
from config.environment.server_urls import unreachable_server
from config.environment.variables import invalid_value
from config.http.circuit_breaker import CircuitBreaker

logger = logging.getLogger(__name__)

PREFIX = "launchboard:"

OPEN_SECONDS = 3.0
# Connection timeout, and reply timeout.
_TIMEOUT_SECONDS = 1.0


class CircuitOpenError(ConnectionError):
    """Raised while the Redis circuit breaker is open."""


class RedisCircuitBreaker(CircuitBreaker):
    """Circuit breaker for one Redis server, shared by all clients in a process."""

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Guard calls to the server.

        Raises the block's RedisError, or CircuitOpenError while the circuit is open.
        """
        if not self.claim_call():
            raise CircuitOpenError("Redis failed a moment ago")
        try:
            yield
        except NoScriptError:
            # A regular response: the script is not loaded on the server yet.
            self._log_recovery()
            raise
        except RedisError as error:
            if self.record_failure():
                logger.warning("Redis failed, retrying every %g s: %s", OPEN_SECONDS, _shown(error))
            raise
        self._log_recovery()

    def _log_recovery(self) -> None:
        if self.record_success():
            logger.info("Redis responds again")


class GuardedRedis(Redis):
    """Redis client with a circuit breaker around its commands and pipelines. Every call may raise RedisError."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.circuit_breaker = RedisCircuitBreaker(
            failure_limit=1, open_seconds=OPEN_SECONDS, probe_seconds=OPEN_SECONDS
        )

    def execute_command(self, *words: Any, **options: Any) -> Any:
        """Execute one command."""
        # Any, because redis-py does not annotate it.
        execute: Any = super().execute_command
        with self.circuit_breaker.guard():
            return execute(*words, **options)

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:
        """Return a pipeline that goes through the circuit breaker."""
        pipeline = _GuardedPipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)
        pipeline.circuit_breaker = self.circuit_breaker
        return pipeline


class _GuardedPipeline(Pipeline):
    circuit_breaker: RedisCircuitBreaker

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        with self.circuit_breaker.guard():
            return super().execute(raise_on_error)


def redis_client() -> GuardedRedis:
    """Return this process's client for the service's Redis server; after a fork, it opens new connections.

    Raises ImproperlyConfigured for REDIS_URL options that the client rejects.
    """
    # Without the lock, the cache lets concurrent first calls create several clients.
    with _making:
        return _clients(settings.REDIS_URL, settings.REDIS_SENTINELS)


def check_redis() -> None:
    """Ping the server. Raises ImproperlyConfigured with the cause if that fails."""
    try:
        # Without the circuit breaker, which would log the failure as well.
        Redis(connection_pool=redis_client().connection_pool).ping()
    except RedisError as error:
        raise unreachable_server("REDIS_URL", _shown(error)) from error


def _shown(error: RedisError) -> str:
    """Return the error's text. If the sentinels have no master, redis-py's text is only a `repr` of clients."""
    sentinels = settings.REDIS_SENTINELS
    if sentinels is None or not isinstance(error, MasterNotFoundError):
        return str(error)
    return f"no sentinel of REDIS_SENTINELS returned an address of the master {sentinels.master}, the host of REDIS_URL"


@functools.cache
def _clients(url: str, sentinels: Sentinels | None) -> GuardedRedis:
    # No retries: a command that timed out may have run. Idle connections that the server closed are detected before
    # use.
    limits: dict[str, Any] = {
        "socket_connect_timeout": _TIMEOUT_SECONDS,
        "socket_timeout": _TIMEOUT_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    }
    try:
        pool = _sentinel_pool(url, sentinels, limits) if sentinels else ConnectionPool.from_url(url, **limits)
        # Constructed, not opened: this raises for unknown options.
        pool.connection_class(**pool.connection_kwargs)
    except (ValueError, TypeError, RedisError) as error:
        raise invalid_value("REDIS_URL", REDIS_FORM) from error
    return GuardedRedis(connection_pool=pool)


def _sentinel_pool(url: str, sentinels: Sentinels, limits: dict[str, Any]) -> ConnectionPool:
    """Return a connection pool to the current master, with the URL's options."""
    # Any, because redis-py does not annotate them.
    parse, make_sentinel, make_pool = cast("tuple[Any, Any, Any]", (parse_url, Sentinel, SentinelConnectionPool))
    options = limits | parse(url)
    # The sentinels return the address.
    del options["host"]
    options.pop("port", None)
    has_tls = options.pop("connection_class", None) is not None
    sentinel_options = dict(sentinels.options) | SENTINEL_LIMITS
    manager = make_sentinel(sentinels.addresses, sentinel_kwargs=sentinel_options)
    pool: ConnectionPool = make_pool(sentinels.master, manager, ssl=has_tls, **options)
    return pool


_making = threading.Lock()
