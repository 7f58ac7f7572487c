"""WSGI wrapper that refuses oversized request headers, before anything parses them.

One client must not cost another anything: a parser of a header may take quadratic time, and `Content-Type` is parsed
before any middleware of Django and any rate limit.
"""

from collections.abc import Iterable
from http import HTTPStatus
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from config.api.response_headers import NO_STORE

# Limit of path, query string and all headers together, in bytes. Servers and proxies commonly have this limit or less.
MAX_HEADER_BYTES = 32 * 1024
# Django's parser takes quadratic time; the longest valid one names a boundary of 70 characters.
MAX_CONTENT_TYPE_BYTES = 256

_TARGET = ("PATH_INFO", "QUERY_STRING")
_BODY = b'{"error":"Request headers are too large"}'
_STATUS = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE


def refuse_oversized_headers(application: WSGIApplication) -> WSGIApplication:
    """Wrap a WSGI application so that a request beyond the limits gets 431."""

    def bounded(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not _is_oversized(environ):
            return application(environ, start_response)
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(_BODY))),
            ("Cache-Control", NO_STORE),
        ]
        start_response(f"{_STATUS.value} {_STATUS.phrase}", headers)
        return [_BODY]

    return bounded


def _is_oversized(environ: WSGIEnvironment) -> bool:
    if len(environ.get("CONTENT_TYPE", "")) > MAX_CONTENT_TYPE_BYTES:
        return True
    size = sum(len(environ.get(name, "")) for name in _TARGET)
    size += sum(len(name) + len(value) for name, value in environ.items() if name.startswith("HTTP_"))
    return size > MAX_HEADER_BYTES
