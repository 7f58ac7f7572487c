"""Cache of public responses in front of Django: a burst of requests for one URL runs its view once.

Each response's Cache-Control decides whether and for how long it is cached. Requests with a key, a cookie or a token
bypass the cache.
"""

import hashlib
import threading
import time
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

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
from config.edge.request_coalescing import RequestCoalescer, RunClaim
from config.edge.response_store import ResponseKey, ResponseStore
from config.redis.connection import PREFIX

_READS = ("GET", "HEAD")
# A request with one of these headers is personal, or has a body.
_UNSHARED = frozenset({"HTTP_AUTHORIZATION", "HTTP_COOKIE", "HTTP_TRANSFER_ENCODING", "HTTP_X_API_KEY"})
_NO_BODY = ("", "0")
_LONGEST_KEY = 2048


class ViewRun:
    """Run of a view in this process, on which other threads wait."""

    def __init__(self) -> None:
        self.finished = threading.Event()
        # None if the response is not cacheable.
        self.cached: CachedResponse | None = None


class EdgeCache:
    """WSGI application that wraps another one with the cache."""

    def __init__(
        self,
        application: WSGIApplication,
        *,
        seconds: float,
        max_bytes: int,
        prefixes: tuple[str, ...],
        coalescer: RequestCoalescer,
        wait_timeout: float = 5.0,
    ) -> None:
        """Cache responses for at most `seconds`, in `max_bytes` of memory; only "/" and paths with one of the prefixes.

        Threads wait up to `wait_timeout` for a run in this process: longer than any public view should
        take.
        """
        self._application = application
        self._seconds = seconds
        self._prefixes = prefixes
        self._coalescer = coalescer
        self._wait_timeout = wait_timeout
        self._store = ResponseStore(max_bytes=max_bytes)
        self._runs: dict[ResponseKey, ViewRun] = {}
        self._lock = threading.Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        key = self._key(environ)
        if key is None:
            return self._application(environ, start_response)
        entry = self._store.get(key)
        if entry is None:
            return self._miss(key, environ, start_response)
        if entry.cached is None:
            return self._application(environ, start_response)
        return send_cached(entry.cached, environ, start_response)

    def _key(self, environ: WSGIEnvironment) -> ResponseKey | None:
        """Return the cache key of everything a public response depends on; None for a request that bypasses the cache.

        The key contains the raw host and forwarded scheme, so that no response is served where Django would
        have rejected or redirected the request.
        """
        path, host = environ.get("PATH_INFO", ""), environ.get("HTTP_HOST", "")
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

    def _miss(self, key: ResponseKey, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        with self._lock:
            # Another thread may have finished its run just now.
            is_kept = self._store.get(key) is not None
            run = self._runs.get(key)
            is_leader = run is None and not is_kept
            if is_leader:
                run = self._runs[key] = ViewRun()
        if run is None:
            return self(environ, start_response)
        if is_leader:
            return self._lead(key, run, environ, start_response)
        run.finished.wait(self._wait_timeout)
        if run.cached is not None:
            return send_cached(run.cached, environ, start_response)
        response, _ = self._run(key, environ)
        return send_response(response, environ, start_response)

    def _lead(
        self, key: ResponseKey, run: ViewRun, environ: WSGIEnvironment, start_response: StartResponse
    ) -> Iterable[bytes]:
        """Get the response for all threads of this process and, as the leader of all processes, for those too."""
        name = f"{PREFIX}edge:{hashlib.sha256(repr(key).encode()).hexdigest()}"
        claim = RunClaim()
        try:
            claim = self._coalescer.claim_run(name)
            if claim.cached is None:
                response, run.cached = self._run(key, environ)
            else:
                run.cached = claim.cached
                self._store.put(key, claim.cached, expires=claim.cached.expires)
        finally:
            with self._lock:
                del self._runs[key]
            run.finished.set()
            self._coalescer.release_run(claim, name, run.cached)
        if claim.cached is not None:
            return send_cached(claim.cached, environ, start_response)
        return send_response(response, environ, start_response)

    def _run(self, key: ResponseKey, environ: WSGIEnvironment) -> tuple[WSGIResponse, CachedResponse | None]:
        """Run the application; return its response to this request, and its cache entry if it is cacheable."""
        started = time.monotonic()
        response = run_shareable(self._application, environ)
        seconds = min(shared_ttl(response), self._seconds)
        if seconds <= 0:
            if response.succeeded:
                # This URL is not cacheable: its next requests must not wait for one another.
                self._store.put(key, None, expires=started + self._seconds)
            return response, None
        cached = read_cached_response(response, made=started, seconds=seconds)
        self._store.put(key, cached, expires=cached.expires)
        return WSGIResponse(response.status, response.headers, [cached.body]), cached


def cache_public_responses(application: WSGIApplication) -> WSGIApplication:
    """Wrap the application in the cache that the settings configure; return it unchanged if they disable it."""
    if settings.EDGE_CACHE_SECONDS == 0:
        return application
    return EdgeCache(
        application,
        seconds=settings.EDGE_CACHE_SECONDS,
        max_bytes=settings.EDGE_CACHE_MB * 1024 * 1024,
        prefixes=settings.EDGE_CACHE_PREFIXES,
        coalescer=RequestCoalescer(settings.REDIS_URL),
    )
