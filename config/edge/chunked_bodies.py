"""WSGI wrapper for request bodies without a length.

A body is chunked in HTTP/1.1, or any stream in HTTP/2. Django treats a body without `Content-Length` as empty.
"""

import io
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

# One byte above the largest body limit of any endpoint (8 MiB). A longer body is cut here, and the parser refuses it by
# its length.
_MAX_BUFFERED_BYTES = 8 * 1024 * 1024 + 1


def add_content_length(application: WSGIApplication) -> WSGIApplication:
    """Wrap a WSGI application so that a body without `Content-Length` arrives with one.

    Only if the server sets `wsgi.input_terminated`: otherwise reading to the end would block on bytes that never
    arrive.
    """

    def measured(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not environ.get("CONTENT_LENGTH") and environ.get("wsgi.input_terminated"):
            body = environ["wsgi.input"].read(_MAX_BUFFERED_BYTES)
            environ["wsgi.input"] = io.BytesIO(body)
            environ["CONTENT_LENGTH"] = str(len(body))
        return application(environ, start_response)

    return measured
