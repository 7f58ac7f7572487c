"""RSGI application for the web server, which runs the WSGI application in threads.

A thread is busy only while the application runs: its request is complete before, and the server sends the response
after it. So no client holds a thread, however slowly it sends or reads. Client addresses take threads in turns.
"""

import asyncio
import io
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import IO, Any, Protocol
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import orjson

from config.edge.cache import EdgeCache
from config.edge.cached_responses import Headers, refuse_to_write
from config.edge.fair_threads import FairThreads
from config.edge.garbage import MemoryRelease, measure_collections
from config.edge.request_bodies import BodyMemory
from config.edge.request_record import RECORD, RequestRecord
from config.edge.wsgi_environ import RefusedRequestError, RSGIScope, find_refusal, make_environ
from config.http.request_ids import HEADER, request_scope
from config.processes.open_files import raise_open_files
from config.redis.stored_sums import start_storing_sums
from config.web.client_ip import address_key
from config.web.response_headers import any_origin_headers
from config.web.routing import is_json_path

# Open files per process: the `--backpressure` connections in the Procfile, and its own files.
_OPEN_FILES = 4096 + 1024
# The rest of a refused body is read and dropped for this long: a connection that is closed before is reset, and a
# client that still sends may lose the response.
_DRAIN_SECONDS = 2.0
# An address beyond its bound gets its refusals so late: clients that retry at once would occupy the event loop.
_REFUSAL_DELAY_SECONDS = 1.0
# After requests with longer bodies, memory is returned to the system.
_LARGE_BODY = 256 * 1024
# Answered on the event loop: without a thread, it responds whatever the other requests cost.
_LIVENESS = ("/healthz", "/healthz/")

# Writes a response to a request by calling StartResponse; None if there is none.
Responder = Callable[[WSGIEnvironment, StartResponse], Iterable[bytes] | None]


class RSGIExchange(Protocol):
    """A request's body and response; any thread may send the response."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Return the body in parts. It may be called once."""

    def response_bytes(self, status: int, headers: Headers, body: bytes) -> None:
        """Send a response; the server copies it."""

    def response_file(self, status: int, headers: Headers, file: str) -> None:
        """Send the file at this path."""


class FileBody:
    """Response body from a file (`wsgi.file_wrapper`)."""

    def __init__(self, file: IO[bytes], block_size: int) -> None:
        self._file, self.close = file, file.close

    def __iter__(self) -> Iterator[bytes]:
        """Return the content, for a file without a path, such as a requested range."""
        return iter((self._file.read(),))

    def path(self) -> str | None:
        """Return the file's path, if it has one: the server then sends the whole file."""
        path = getattr(self._file, "name", None)
        return path if isinstance(path, str) else None


class WSGIBridge:
    """RSGI application around a WSGI application."""

    def __init__(
        self,
        application: WSGIApplication,
        *,
        threads: FairThreads,
        body_timeout: float,
        response_timeout: float,
        body_memory: int,
    ) -> None:
        """Run the application in these threads.

        A body must be complete within `body_timeout` seconds; all bodies use at most `body_memory` bytes. A request
        without a response `response_timeout` seconds later gets 503: the database may be frozen.
        """
        self._application = application
        # On the event loop: a cached response needs no thread.
        self._respond_from_cache = application.respond_from_cache if isinstance(application, EdgeCache) else _no_cache
        self._threads, self._memory, self._release = threads, BodyMemory(body_memory), MemoryRelease()
        self._body_timeout, self._response_timeout = body_timeout, response_timeout

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Raise this process's open file limit, and have its sums and collections counted."""
        raise_open_files(_OPEN_FILES)
        start_storing_sums()
        measure_collections()

    async def __rsgi__(self, scope: RSGIScope, exchange: RSGIExchange) -> None:
        """Respond to one request."""
        environ = make_environ(scope)
        record = environ[RECORD] = RequestRecord(environ.get("HTTP_X_REQUEST_ID", ""))
        refusal = find_refusal(environ)
        if refusal is None and _respond(self._respond_from_cache, environ, exchange):
            return
        parts = aiter(_all_parts(exchange))
        with self._memory.body(environ, timeout=self._body_timeout) as body:
            try:
                if refusal is not None:
                    raise refusal
                content, length = (b"", 0) if body.is_empty() else await body.read(parts)
                environ["wsgi.input"], environ["CONTENT_LENGTH"] = io.BytesIO(content), str(length)
                record.begun = time.monotonic()
                work = partial(_respond, self._application, environ, exchange)
                if environ["PATH_INFO"] in _LIVENESS:
                    work()
                else:
                    await self._threads.run(address_key(environ), work, timeout=self._response_timeout)
                if len(content) > _LARGE_BODY:
                    self._release.schedule()
            except RefusedRequestError as error:
                if error.status == 429:
                    await asyncio.sleep(_REFUSAL_DELAY_SECONDS)
                _refuse(error, environ, exchange)
            except TimeoutError:
                _refuse(RefusedRequestError(503, "Service is temporarily unavailable"), environ, exchange)
                return
        if body.is_unread and "HTTP_EXPECT" not in environ:
            with suppress(TimeoutError):
                async with asyncio.timeout(_DRAIN_SECONDS):
                    async for _ in parts:
                        pass


def _refuse(error: RefusedRequestError, environ: WSGIEnvironment, exchange: RSGIExchange) -> None:
    """Send the status with the API's JSON or a page's text, unless a response is sent already."""
    record: RequestRecord = environ[RECORD]
    if not record.claim_response():
        return
    is_json = is_json_path(environ["PATH_INFO"])
    headers = [
        ("Content-Type", "application/json" if is_json else "text/plain"),
        ("Cache-Control", "no-store"),
        (HEADER, record.request_id),
    ]
    if is_json:
        headers += any_origin_headers().items()
    if error.status in (429, 503):
        headers.append(("Retry-After", "1"))
    content = orjson.dumps({"error": str(error)}) if is_json else f"{error}\n".encode()
    exchange.response_bytes(error.status, headers, content)
    record.count(error.status)


def _no_cache(environ: WSGIEnvironment, start_response: StartResponse) -> None:
    return None


async def _all_parts(exchange: RSGIExchange) -> AsyncIterator[bytes]:
    """Iterate over the body in several loops, one after another."""
    async for chunk in exchange:
        yield chunk


def _respond(responder: Responder, environ: WSGIEnvironment, exchange: RSGIExchange) -> bool:
    """Send the response with its request id, and return True; False if there is none.

    It is collected before, also if the application would stream it, and closed by the thread that ran it.
    """
    starts: list[tuple[str, Headers]] = []

    def start_response(status: str, headers: Headers, exc_info: Any = None, /) -> Callable[[bytes], object]:
        starts.append((status, headers))
        return refuse_to_write

    record: RequestRecord = environ[RECORD]
    with request_scope(record.request_id):
        body = responder(environ, start_response)
        if body is None:
            return False
        try:
            path = body.path() if isinstance(body, FileBody) else None
            content = b"" if path else b"".join(body)
            status, headers = int(starts[-1][0][:3]), starts[-1][1]
            # Here and not by the application: a cached response is sent to other requests, too.
            headers = [*headers, (HEADER, record.request_id)]
            if not record.claim_response():
                return True
            if path:
                exchange.response_file(status, headers, path)
            else:
                exchange.response_bytes(status, headers, content)
            record.count(status)
        finally:
            if hasattr(body, "close"):
                body.close()
    return True
