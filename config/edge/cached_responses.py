"""Answers of the WSGI application: what may be kept of one and for how long, and what of it a client gets."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from config.api.response_headers import REPRESENTATION_HEADERS
from config.edge.representation import is_current

Headers = list[tuple[str, str]]

# A longer answer is never kept.
LONGEST_KEPT_BYTES = 1024 * 1024

# The condition is the client's, and the one answer serves all; a range is never asked for by those we serve.
_ONE_CLIENTS = frozenset({"HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_RANGE", "HTTP_IF_RANGE"})
# What belongs to the one who caused the run, or to that moment.
_NOT_KEPT = frozenset({"age", "connection", "date", "keep-alive", "retry-after"})
_NOT_KEPT_BEGINNINGS = ("ratelimit", "x-ratelimit")
# The key of an answer tells these apart; a request with a cookie never meets the cache.
_VARIES_BY = frozenset({"", "accept-encoding", "cookie"})
_UNSHARED_DIRECTIVES = frozenset({"no-cache", "no-store", "private"})


@dataclass(frozen=True, slots=True)
class Response:
    """What the application answered; the body is yet to be read."""

    status: str
    headers: Headers
    body: Iterable[bytes]

    @property
    def succeeded(self) -> bool:
        """Whether it is a 200."""
        return self.status.startswith("200 ")


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer with status 200 that is kept; the times are seconds of this process's monotonic clock."""

    headers: tuple[tuple[str, str], ...]
    body: bytes
    made: float
    expires: float


def run_for_all(application: WSGIApplication, environ: WSGIEnvironment) -> Response:
    """Have the application answer as if by a plain GET, so that the answer is whole whatever this client asked for."""
    if environ["REQUEST_METHOD"] != "GET" or not environ.keys().isdisjoint(_ONE_CLIENTS):
        environ = {name: value for name, value in environ.items() if name not in _ONE_CLIENTS}
        environ["REQUEST_METHOD"] = "GET"
    said: list[tuple[str, Headers]] = []

    def start_response(status: str, headers: Headers, exc_info: Any = None, /) -> Callable[[bytes], object]:
        said.append((status, headers))
        # For applications of before PEP 333; Django is none.
        return _refuse_to_write

    # Django calls start_response before it returns.
    body = application(environ, start_response)
    status, headers = said[-1]
    return Response(status, headers, body)


def seconds_for_all(response: Response) -> int:
    """For how many seconds the answer may be given to everybody; 0 for never.

    That is the `s-maxage` of a whole, `public` 200 that sets no cookie, and varies by nothing that keys don't tell.
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
    # What comes without a length is a stream, and may never end.
    if not _is_number(length) or int(length) > LONGEST_KEPT_BYTES:
        return 0
    return int(ages[0]) if len(ages) == 1 and _is_number(ages[0]) else 0


def keep(response: Response, *, made: float, seconds: float) -> Answer:
    """Read the body; the seconds count from when the run began."""
    try:
        body = b"".join(response.body)
    finally:
        _close(response.body)
    headers = tuple(
        (name, value)
        for name, value in response.headers
        if name.lower() not in _NOT_KEPT and not name.lower().startswith(_NOT_KEPT_BEGINNINGS)
    )
    return Answer(headers, body, made, made + seconds)


def serve(answer: Answer, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Give a client what was kept, and say how old it is."""
    headers = [*answer.headers, ("Age", str(int(time.monotonic() - answer.made)))]
    return deliver(Response("200 OK", headers, [answer.body]), environ, start_response)


def deliver(response: Response, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Give a client what it asked for of a whole answer: all, the headers alone (HEAD), or 304 (RFC 9110, 15.4.5)."""
    if (
        "HTTP_IF_NONE_MATCH" in environ
        and response.succeeded
        and is_current(environ["HTTP_IF_NONE_MATCH"], _by_name(response.headers).get("etag"))
    ):
        _close(response.body)
        kept = [(name, value) for name, value in response.headers if name.lower() not in REPRESENTATION_HEADERS]
        start_response("304 Not Modified", kept)
        return []
    start_response(response.status, response.headers)
    if environ["REQUEST_METHOD"] == "HEAD":
        _close(response.body)
        return []
    return response.body


def _by_name(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The values by lower-case name, several of one name joined."""
    found: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        found[lower] = f"{found[lower]}, {value}" if lower in found else value
    return found


def _parts(value: str) -> list[str]:
    return [part.strip().lower() for part in value.split(",")]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10


def _close(body: Iterable[bytes]) -> None:
    close = getattr(body, "close", None)
    if close is not None:
        close()


def _refuse_to_write(_: bytes) -> object:
    raise NotImplementedError("answers are returned, not written")
