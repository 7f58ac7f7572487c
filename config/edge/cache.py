"""Cache for public responses in front of Django: when many requests for one URL arrive, few run its view per process.

Each response's Cache-Control decides whether and for how long it is cached. Requests with a key, a cookie or a token
bypass the cache.
"""

import threading
import time
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import suppress
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from cachetools import TLRUCache
from django.conf import settings

from config.edge.cached_responses import (
    CachedResponse,
    WSGIResponse,
    read_cached_response,
    run_shareable,
    send_cached,
    send_response,
    shared_ttl,
)
from config.edge.representation import accepts_gzip
from config.processes.concurrency_limits import BusyError, shared_run_slot

# Cache key: all that distinguishes requests with different responses.
ResponseKey = tuple[str, ...]

_READS = ("GET", "HEAD")
# A request with one of these headers is personal, or has a body.
_UNSHARED = frozenset({"HTTP_AUTHORIZATION", "HTTP_COOKIE", "HTTP_TRANSFER_ENCODING", "HTTP_X_API_KEY"})
_NO_BODY = ("", "0")
_LONGEST_KEY = 2048
# Of each web process.
_MAX_BYTES = 32 * 1024 * 1024
# Documents, which have no parameters: a query would give each request its own entry.
_DOCUMENTS = (".md", ".txt")
# An entry's memory besides its texts: the longest key, and 4 KiB for Python objects by sys.getsizeof.
_ENTRY_BYTES = _LONGEST_KEY + 4096
# Stored for a URL without a cacheable response: its requests must not wait for one another.
_UNCACHEABLE = CachedResponse((), b"", created=0.0, expires=0.0)


class EdgeCache:
    """WSGI application that wraps another one with the cache."""

    def __init__(
        self,
        application: WSGIApplication,
        *,
        seconds: float,
        max_bytes: int,
        prefixes: tuple[str, ...],
        wait_timeout: float = 5.0,
    ) -> None:
        """Cache responses for at most `seconds`, in `max_bytes`; only "/" and paths with one of the prefixes.

        Few threads wait up to `wait_timeout` for another thread's run: longer than any public view should take.
        """
        self._application = application
        self._seconds = seconds
        self._prefixes = prefixes
        self._wait_timeout = wait_timeout
        self._store: TLRUCache[ResponseKey, CachedResponse] = TLRUCache(max_bytes, self._expiry, getsizeof=_size)
        # View runs in this process; the result is None if the response is not cacheable.
        self._runs: dict[ResponseKey, Future[CachedResponse | None]] = {}
        # Guards both: TLRUCache is not thread-safe, and reads reorder its entries.
        self._lock = threading.Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        key = self._key(environ)
        if key is None:
            return self._application(environ, start_response)
        with self._lock:
            cached, run = self._store.get(key), self._runs.get(key)
            is_leader = cached is None and run is None
            if is_leader:
                run = self._runs[key] = Future()
        if cached is None and run is not None and not is_leader:
            # A thread without a slot runs the view itself: views that may hang have their own limits.
            with suppress(TimeoutError, BusyError), shared_run_slot():
                cached = run.result(self._wait_timeout)
        if cached is _UNCACHEABLE:
            return self._application(environ, start_response)
        if cached is not None:
            return send_cached(cached, environ, start_response)
        response = self._run(key, environ, run if is_leader else None)
        return send_response(response, environ, start_response)

    def respond_from_cache(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes] | None:
        """Return a cached response; None without one. It never waits for a run."""
        key = self._key(environ)
        if key is None:
            return None
        with self._lock:
            cached = self._store.get(key)
        return None if cached is None or cached is _UNCACHEABLE else send_cached(cached, environ, start_response)

    def _key(self, environ: WSGIEnvironment) -> ResponseKey | None:
        """Return the cache key: all that a public response depends on; None for a request that bypasses the cache.

        The key contains the raw host and forwarded scheme, so that no response is served where Django would
        have rejected or redirected the request. A document's query is dropped.
        """
        path, host = environ.get("PATH_INFO", ""), environ.get("HTTP_HOST", "")
        if path.endswith(_DOCUMENTS):
            environ["QUERY_STRING"] = ""
        if (
            environ["REQUEST_METHOD"] not in _READS
            or not (path.startswith(self._prefixes) or path == "/")
            or not environ.keys().isdisjoint(_UNSHARED)
            or environ.get("CONTENT_LENGTH", "") not in _NO_BODY
            or not host
        ):
            return None
        key = (
            host,
            environ["wsgi.url_scheme"],
            environ.get("HTTP_X_FORWARDED_PROTO", ""),
            path,
            environ.get("QUERY_STRING", ""),
            "gzip" if accepts_gzip(environ.get("HTTP_ACCEPT_ENCODING", "")) else "",
        )
        return key if sum(map(len, key)) <= _LONGEST_KEY else None

    def _run(
        self, key: ResponseKey, environ: WSGIEnvironment, run: "Future[CachedResponse | None] | None"
    ) -> WSGIResponse:
        """Run the application and cache a cacheable response; `run` ends with it, also after an exception."""
        cached, started = None, time.monotonic()
        try:
            response = run_shareable(self._application, environ)
            seconds = min(shared_ttl(response), self._seconds)
            if seconds > 0:
                cached = read_cached_response(response, created=started, seconds=seconds)
                self._put(key, cached)
                return WSGIResponse(response.status, response.headers, [cached.body])
            if response.succeeded:
                self._put(key, _UNCACHEABLE)
            return response
        finally:
            if run is not None:
                with self._lock:
                    del self._runs[key]
                run.set_result(cached)

    def _put(self, key: ResponseKey, cached: CachedResponse) -> None:
        # ValueError: larger than the whole cache.
        with self._lock, suppress(ValueError):
            self._store[key] = cached

    def _expiry(self, _: ResponseKey, cached: CachedResponse, now: float) -> float:
        return now + self._seconds if cached is _UNCACHEABLE else cached.expires


def _size(cached: CachedResponse) -> int:
    return _ENTRY_BYTES + len(cached.body) + sum(len(name) + len(value) for name, value in cached.headers)


def cache_public_responses(application: WSGIApplication) -> WSGIApplication:
    """Wrap the application in the cache that the settings configure; return it unchanged if they disable it."""
    if settings.EDGE_CACHE_SECONDS == 0:
        return application
    return EdgeCache(
        application,
        seconds=settings.EDGE_CACHE_SECONDS,
        max_bytes=_MAX_BYTES,
        prefixes=settings.EDGE_CACHE_PREFIXES,
    )
