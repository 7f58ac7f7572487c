"""The Redis server, and how long a process leaves one alone that fails. Every key begins with PREFIX.

Requests must not wait for a server that hangs, one after another. So the first call that fails begins a pause in which
all others fail at once; when it is over, one of them tries again, and the next pause begins or all is as before.
"""

import functools
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from redis import ConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.client import Pipeline
from redis.exceptions import ConnectionError, NoScriptError, RedisError
from redis.retry import Retry

logger = logging.getLogger(__name__)

PREFIX = "launchboard:"

PAUSE_SECONDS = 3.0
# How long a server may take for the connection, and for each reply.
_PATIENCE_SECONDS = 1.0


class LeftAlone(ConnectionError):
    """The server has just failed, and is not asked."""


class Attempts:
    """Whether a server is asked; one for each server that a process knows, whatever it is asked by."""

    def __init__(self) -> None:
        # None while the server answers.
        self._paused_until: float | None = None
        self._lock = threading.Lock()

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Around what asks the server. Raises RedisError: what the body raises, or LeftAlone at once in a pause."""
        self._begin()
        try:
            yield
        except NoScriptError:
            # An answer like any other: the server doesn't know the script yet.
            self._succeed()
            raise
        except RedisError as error:
            self._fail(error)
            raise
        except OSError as error:
            self._fail(error)
            raise ConnectionError(str(error)) from error
        self._succeed()

    def _begin(self) -> None:
        if self._paused_until is None:
            return
        with self._lock:
            now = time.monotonic()
            if self._paused_until is not None and now < self._paused_until:
                raise LeftAlone("Redis failed a moment ago")
            # For all but this one it goes on.
            self._paused_until = now + PAUSE_SECONDS

    def _fail(self, error: Exception) -> None:
        with self._lock:
            # Of several threads that waited, one tells.
            told, self._paused_until = self._paused_until is not None, time.monotonic() + PAUSE_SECONDS
        if not told:
            logger.warning("Redis failed, and is asked again every %g s: %s", PAUSE_SECONDS, error)

    def _succeed(self) -> None:
        if self._paused_until is not None:
            self._paused_until = None
            logger.info("Redis answers again")


class Client(Redis):
    """A client whose calls are attempts, in a pipeline too. Every call may raise RedisError."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.attempts = Attempts()

    def execute_command(self, *words: Any, **options: Any) -> Any:
        """One command."""
        # Any, since redis-py leaves it without types.
        execute: Any = super().execute_command
        with self.attempts.attempt():
            return execute(*words, **options)

    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:
        """Commands that are sent together."""
        pipeline = _Pipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)
        pipeline.attempts = self.attempts
        return pipeline


class _Pipeline(Pipeline):
    attempts: Attempts

    def execute(self, raise_on_error: bool = True) -> list[Any]:
        with self.attempts.attempt():
            return super().execute(raise_on_error)


def redis() -> Client:
    """This process's client of the service's server."""
    return connect(settings.REDIS_URL)


def connect(url: str) -> Client:
    """This process's client of the server at this address; after a fork, it opens new connections."""
    # The cache alone lets each of several threads that come first make one of its own.
    with _making:
        return _clients(url)


@functools.cache
def _clients(url: str) -> Client:
    # Nothing is tried again: what a time-out leaves unknown may be done. Connections that the server closed while they
    # lay idle are noticed before they are used.
    pool = ConnectionPool.from_url(
        url,
        socket_connect_timeout=_PATIENCE_SECONDS,
        socket_timeout=_PATIENCE_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    return Client(connection_pool=pool)


_making = threading.Lock()
