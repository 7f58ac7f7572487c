"""Support for edge cache tests: an application that counts its runs, and a client for WSGI applications."""

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from config.edge.cache import EdgeCache

PUBLIC = {"Cache-Control": "public, s-maxage=60", "Vary": "Accept-Encoding", "ETag": '"e"'}


@dataclass
class Answered:
    """A response as received by a client; header names are in lower case."""

    status: int
    headers: dict[str, str]
    chunks: Iterable[bytes]

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)


class Body:
    """A chunk iterable that records whether it was read and closed."""

    def __init__(self, *chunks: bytes) -> None:
        self.chunks, self.read, self.closed = chunks, 0, False

    def __iter__(self) -> Any:
        for chunk in self.chunks:
            self.read += 1
            yield chunk

    def close(self) -> None:
        self.closed = True


@dataclass
class Origin:
    """A WSGI application that returns its run number; `before` is called in each run with that number."""

    status: str = "200 OK"
    headers: dict[str, str | None] = field(default_factory=dict)
    before: Callable[[int], None] = lambda number: None
    environs: list[WSGIEnvironment] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)

    @property
    def runs(self) -> int:
        return len(self.environs)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        self.environs.append(environ)
        number = self.runs
        self.before(number)
        text = f"run {number}".encode()
        headers = {**PUBLIC, "Content-Length": str(len(text)), **self.headers}
        start_response(self.status, [(name, value) for name, value in headers.items() if value is not None])
        self.bodies.append(Body(text))
        return self.bodies[-1]


def edge_cache(application: WSGIApplication, **changes: Any) -> EdgeCache:
    """Build a cache as the settings do, with `changes`; its wait timeout is far beyond what a test takes."""
    parameters: dict[str, Any] = {
        "seconds": 60.0,
        "max_bytes": 1024 * 1024,
        "prefixes": ("/api/",),
        "wait_timeout": 600.0,
    }
    return EdgeCache(application, **parameters | changes)


def fetch(application: WSGIApplication, address: str = "/api/x", *, method: str = "GET", **environ: str) -> Answered:
    """Send one request to testserver; `environ` as in WSGI (HTTP_COOKIE="...")."""
    path, _, query = address.partition("?")
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
        started.append((status, headers))

    request: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "HTTP_HOST": "testserver",
        "SERVER_NAME": "testserver",
        "SERVER_PORT": "80",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(),
    }
    chunks = application(request | environ, start_response)
    status, headers = started[-1]
    return Answered(int(status.split()[0]), {name.lower(): value for name, value in headers}, chunks)
