"""A small cache of public answers before Django: a burst on one address costs one run of its view.

What is kept, and for how long, is said by each answer's own Cache-Control. Requests with a key, a cookie or a token
never meet it.
"""

import hashlib
import threading
import time
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from django.conf import settings

from config.edge.cached_responses import Answer, Response, deliver, keep, run_for_all, seconds_for_all, serve
from config.edge.representation import accepts_gzip
from config.edge.request_coalescing import SharedRuns, Turn
from config.edge.response_store import AnswerStore, Key
from config.redis.connection import PREFIX

_READS = ("GET", "HEAD")
# Who sends one of these asks for himself, or sends a body.
_UNSHARED = frozenset({"HTTP_AUTHORIZATION", "HTTP_COOKIE", "HTTP_TRANSFER_ENCODING", "HTTP_X_API_KEY"})
_NO_BODY = ("", "0")
_LONGEST_KEY = 2048


class Run:
    """A view's run in this process, which other threads wait for."""

    def __init__(self) -> None:
        self.is_over = threading.Event()
        # None where it has no answer for others.
        self.answer: Answer | None = None


class EdgeCache:
    """A WSGI application around another one."""

    def __init__(
        self,
        application: WSGIApplication,
        *,
        seconds: float,
        max_bytes: int,
        prefixes: tuple[str, ...],
        shared_runs: SharedRuns,
        patience_seconds: float = 5.0,
    ) -> None:
        """Answers are kept `seconds` at the most, in `max_bytes` of memory; only "/" and what begins with a prefix.

        A run in this process is waited for `patience_seconds`: longer than any public view should take.
        """
        self._application = application
        self._seconds = seconds
        self._prefixes = prefixes
        self._shared_runs = shared_runs
        self._patience_seconds = patience_seconds
        self._store = AnswerStore(max_bytes=max_bytes)
        self._runs: dict[Key, Run] = {}
        self._lock = threading.Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        key = self._key(environ)
        if key is None:
            return self._application(environ, start_response)
        entry = self._store.get(key)
        if entry is None:
            return self._miss(key, environ, start_response)
        if entry.answer is None:
            return self._application(environ, start_response)
        return serve(entry.answer, environ, start_response)

    def _key(self, environ: WSGIEnvironment) -> Key | None:
        """All that a public answer depends on; None for a request that is Django's alone.

        The host and what a proxy says of the scheme are in it as they came, so that no answer goes where Django would
        have refused or redirected.
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

    def _miss(self, key: Key, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        with self._lock:
            # A run may have come to its end just now.
            is_kept = self._store.get(key) is not None
            run = self._runs.get(key)
            leads = run is None and not is_kept
            if leads:
                run = self._runs[key] = Run()
        if run is None:
            return self(environ, start_response)
        if leads:
            return self._lead(key, run, environ, start_response)
        run.is_over.wait(self._patience_seconds)
        if run.answer is not None:
            return serve(run.answer, environ, start_response)
        response, _ = self._run(key, environ)
        return deliver(response, environ, start_response)

    def _lead(self, key: Key, run: Run, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Find the answer for all threads of this process, and, where it is our turn, for all processes."""
        name = f"{PREFIX}edge:{hashlib.sha256(repr(key).encode()).hexdigest()}"
        turn = Turn()
        try:
            turn = self._shared_runs.take_turn(name)
            if turn.answer is None:
                response, run.answer = self._run(key, environ)
            else:
                run.answer = turn.answer
                self._store.put(key, turn.answer, expires=turn.answer.expires)
        finally:
            with self._lock:
                del self._runs[key]
            run.is_over.set()
            self._shared_runs.end_turn(turn, name, run.answer)
        if turn.answer is not None:
            return serve(turn.answer, environ, start_response)
        return deliver(response, environ, start_response)

    def _run(self, key: Key, environ: WSGIEnvironment) -> tuple[Response, Answer | None]:
        """The application's answer to whoever sent this request, and what of it is for all."""
        began = time.monotonic()
        response = run_for_all(self._application, environ)
        seconds = min(seconds_for_all(response), self._seconds)
        if seconds <= 0:
            if response.succeeded:
                # This address is no matter of ours: its next requests shall not wait for one another.
                self._store.put(key, None, expires=began + self._seconds)
            return response, None
        answer = keep(response, made=began, seconds=seconds)
        self._store.put(key, answer, expires=answer.expires)
        return Response(response.status, response.headers, [answer.body]), answer


def keep_public_answers(application: WSGIApplication) -> WSGIApplication:
    """The application with the cache that the settings describe; itself where they turn it off."""
    if settings.EDGE_CACHE_SECONDS == 0:
        return application
    return EdgeCache(
        application,
        seconds=settings.EDGE_CACHE_SECONDS,
        max_bytes=settings.EDGE_CACHE_MB * 1024 * 1024,
        prefixes=settings.EDGE_CACHE_PREFIXES,
        shared_runs=SharedRuns(settings.REDIS_URL),
    )
