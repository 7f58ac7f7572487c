"""WSGI application responses: which are cacheable, for how long, and what a client gets from one."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from config.edge.representation import matches_etag
from config.edge.request_record import RECORD
from config.web.response_headers import REPRESENTATION_HEADERS

Headers = list[tuple[str, str]]

# Size limit for a cache entry.
MAX_ENTRY_BYTES = 1024 * 1024

# Headers for one client only, while one response serves all; clients of cached paths never request ranges.
_PER_CLIENT_HEADERS = frozenset({"HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_RANGE", "HTTP_IF_RANGE"})
# Headers that belong to the one request that caused the run, or to its moment.
_NOT_CACHED = frozenset({"age", "connection", "date", "keep-alive", "retry-after"})
_NOT_CACHED_PREFIXES = ("ratelimit", "x-ratelimit")
# Covered by the cache key; a request with a cookie bypasses the cache.
_VARIES_BY = frozenset({"", "accept-encoding", "cookie"})
_UNSHARED_DIRECTIVES = frozenset({"no-cache", "no-store", "private"})


@dataclass(frozen=True, slots=True)
class WSGIResponse:
    """Application response with an unread body."""

    status: str
    headers: Headers
    body: Iterable[bytes]

    @property
    def succeeded(self) -> bool:
        """Return whether the status is 200."""
        return self.status.startswith("200 ")


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """Cached response with status 200 and its body; times are seconds on this process's monotonic clock."""

    headers: tuple[tuple[str, str], ...]
    body: bytes
    created: float
    expires: float


def run_shareable(application: WSGIApplication, environ: WSGIEnvironment) -> WSGIResponse:
    """Run the application as for a plain GET, so that the response is complete whatever this client requested."""
    if environ["REQUEST_METHOD"] != "GET" or not environ.keys().isdisjoint(_PER_CLIENT_HEADERS):
        environ = {name: value for name, value in environ.items() if name not in _PER_CLIENT_HEADERS}
        environ["REQUEST_METHOD"] = "GET"
    starts: list[tuple[str, Headers]] = []

    def start_response(status: str, headers: Headers, exc_info: Any = None, /) -> Callable[[bytes], object]:
        starts.append((status, headers))
        # For applications older than PEP 333; Django does not use it.
        return refuse_to_write

    # Django calls start_response before it returns.
    body = application(environ, start_response)
    status, headers = starts[-1]
    return WSGIResponse(status, headers, body)


def shared_ttl(response: WSGIResponse) -> int:
    """Return the TTL in seconds for a shared cache; 0 if the response is not cacheable.

    It is the `s-maxage` of a complete, `public` 200 that sets no cookie and varies only by what the cache key covers.
    """
    headers = _by_name(response.headers)
    directives = _parts(headers.get("cache-control", ""))
    if (
        not response.succeeded
        or "set-cookie" in headers
        or not _VARIES_BY.issuperset(_parts(headers.get("vary", "")))
        or "public" not in directives
        or not _UNSHARED_DIRECTIVES.isdisjoint(directive.partition("=")[0] for directive in directives)
    ):
        return 0
    ages = [directive.removeprefix("s-maxage=") for directive in directives if directive.startswith("s-maxage=")]
    length = headers.get("content-length", "")
    # A response without a length is a stream, and may never end.
    if not _is_number(length) or int(length) > MAX_ENTRY_BYTES:
        return 0
    return int(ages[0]) if len(ages) == 1 and _is_number(ages[0]) else 0


def read_cached_response(response: WSGIResponse, *, created: float, seconds: float) -> CachedResponse:
    """Read the body into a cache entry; its TTL begins with the run."""
    try:
        body = b"".join(response.body)
    finally:
        _close(response.body)
    headers = tuple(
        (name, value)
        for name, value in response.headers
        if name.lower() not in _NOT_CACHED and not name.lower().startswith(_NOT_CACHED_PREFIXES)
    )
    return CachedResponse(headers, body, created, created + seconds)


def send_cached(cached: CachedResponse, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Send a cache entry to the client, with its Age."""
    if RECORD in environ:
        environ[RECORD].route = "cache"
    headers = [*cached.headers, ("Age", str(int(time.monotonic() - cached.created)))]
    return send_response(WSGIResponse("200 OK", headers, [cached.body]), environ, start_response)


def send_response(response: WSGIResponse, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Send the requested part of a complete response: all, only the headers (HEAD), or 304 (RFC 9110, 15.4.5)."""
    if (
        "HTTP_IF_NONE_MATCH" in environ
        and response.succeeded
        and matches_etag(environ["HTTP_IF_NONE_MATCH"], _by_name(response.headers).get("etag"))
    ):
        _close(response.body)
        headers = [(name, value) for name, value in response.headers if name.lower() not in REPRESENTATION_HEADERS]
        start_response("304 Not Modified", headers)
        return []
    start_response(response.status, response.headers)
    if environ["REQUEST_METHOD"] == "HEAD":
        _close(response.body)
        return []
    return response.body


def _by_name(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the values by lower-case name; a repeated name's values are joined."""
    value_by_name: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        value_by_name[lower] = f"{value_by_name[lower]}, {value}" if lower in value_by_name else value
    return value_by_name


def _parts(value: str) -> list[str]:
    return [part.strip().lower() for part in value.split(",")]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


def _close(body: Iterable[bytes]) -> None:
    close = getattr(body, "close", None)
    if close is not None:
        close()


def refuse_to_write(_: bytes) -> object:
    """Raise NotImplementedError: `write` is for applications older than PEP 333."""
    raise NotImplementedError("answers are returned, not written")
