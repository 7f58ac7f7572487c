"""Environment of a WSGI request, of what the web server passes by RSGI, and the limits of its headers."""

import sys
from collections.abc import Iterable
from typing import Protocol
from wsgiref.types import WSGIEnvironment

_COMMON = {
    "SCRIPT_NAME": "",
    "SERVER_SOFTWARE": "granian",
    "wsgi.errors": sys.stderr,
    "wsgi.input_terminated": True,
    "wsgi.multiprocess": True,
    "wsgi.multithread": True,
    "wsgi.run_once": False,
    "wsgi.version": (1, 0),
}
_WITHOUT_PREFIX = ("CONTENT_LENGTH", "CONTENT_TYPE")

# Limit of path, query string and all headers together, in bytes. The web server's own one is up to twice as high.
MAX_HEADER_BYTES = 32 * 1024
# Django parses it in quadratic time, before any middleware; the longest valid one names a boundary of 70 characters.
MAX_CONTENT_TYPE_BYTES = 256


class RefusedRequestError(Exception):
    """Raised for a request that the application does not get; `status` is the response's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class RSGIHeaders(Protocol):
    """Headers of a request, by names in lower case."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Return names and values; a repeated name has several, and values outside ASCII are left out."""


class RSGIScope(Protocol):
    """Request line, headers and addresses of a request."""

    authority: str | None
    client: str
    headers: RSGIHeaders
    http_version: str
    method: str
    path: str
    query_string: str
    scheme: str
    server: str


def make_environ(scope: RSGIScope) -> WSGIEnvironment:
    """Return the environment, without `wsgi.input`.

    A header with an underscore in its name is dropped: in WSGI it would replace, or add to, the one with a hyphen,
    such as X-Forwarded-For.
    """
    server_name, _, server_port = scope.server.rpartition(":")
    environ: WSGIEnvironment = _COMMON | {
        "REMOTE_ADDR": scope.client.rpartition(":")[0].strip("[]"),
        "REQUEST_METHOD": scope.method,
        "SERVER_NAME": server_name.strip("[]"),
        "SERVER_PORT": server_port,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        # WSGI's texts are bytes, one per character.
        "PATH_INFO": scope.path.encode().decode("latin-1"),
        "QUERY_STRING": scope.query_string.encode().decode("latin-1"),
        "wsgi.url_scheme": scope.scheme,
    }
    for name, value in scope.headers.items():
        if "_" in name:
            continue
        key = name.upper().replace("-", "_")
        if key not in _WITHOUT_PREFIX:
            key = "HTTP_" + key
        if key in environ:
            value = f"{environ[key]}{';' if name == 'cookie' else ','}{value}"
        environ[key] = value
    environ.setdefault("HTTP_HOST", scope.authority or "")
    return environ


def refuse_oversized_headers(environ: WSGIEnvironment) -> None:
    """Raise RefusedRequestError (431) for headers beyond the limits, before anything parses them."""
    size = sum(len(environ[name]) for name in ("PATH_INFO", "QUERY_STRING"))
    size += sum(len(name) + len(value) for name, value in environ.items() if name.startswith("HTTP_"))
    if size > MAX_HEADER_BYTES or len(environ.get("CONTENT_TYPE", "")) > MAX_CONTENT_TYPE_BYTES:
        raise RefusedRequestError(431, "Request headers are too large")
