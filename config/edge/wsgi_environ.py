"""WSGI environment from what the web server passes by RSGI, and header limits."""

import sys
from collections.abc import Iterable
from typing import Protocol
from wsgiref.types import WSGIEnvironment

from django.utils.http import parse_header_parameters

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

# Limit on path, query string and all headers together, in bytes. The web server's own one is up to twice as high.
MAX_HEADER_BYTES = 32 * 1024
# Django parses it in quadratic time, before any middleware; the longest valid one names a boundary with 70 characters.
MAX_CONTENT_TYPE_BYTES = 256
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class RefusedRequestError(Exception):
    """Raised for a request that the application does not get; `status` is the response's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class RSGIHeaders(Protocol):
    """Request headers, by names in lower case."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Return names and values; a repeated name has several, and values outside ASCII are left out."""


class RSGIScope(Protocol):
    """A request's line, headers and addresses."""

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


def find_refusal(environ: WSGIEnvironment) -> RefusedRequestError | None:
    """Return the error for headers beyond the limits (431), or a form that is not UTF-8 (415); None for others.

    Django raises for such a form in each of its error pages, too, because they read the form's token.
    """
    size = sum(len(environ[name]) for name in ("PATH_INFO", "QUERY_STRING"))
    size += sum(len(name) + len(value) for name, value in environ.items() if name.startswith("HTTP_"))
    content_type = environ.get("CONTENT_TYPE", "")
    if size > MAX_HEADER_BYTES or len(content_type) > MAX_CONTENT_TYPE_BYTES:
        return RefusedRequestError(431, "Request headers are too large")
    if "charset" in content_type.lower():
        media_type, parameters = parse_header_parameters(content_type)
        if media_type in _FORMS and parameters.get("charset", "utf-8").lower() != "utf-8":
            return RefusedRequestError(415, "Forms must be in UTF-8")
    return None
