"""Bodies that come without a length (chunked in HTTP/1.1, any stream in HTTP/2), which Django takes for empty ones."""

import io
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

# Above what any endpoint takes (8 MiB): a longer body is cut here, and its length alone makes the parser refuse it.
_MAX_BUFFERED_BYTES = 8 * 1024 * 1024 + 1


def measure_bodies(application: WSGIApplication) -> WSGIApplication:
    """Wrap a WSGI application so that a body without `Content-Length` arrives with one.

    Only where the server says that its input ends by itself (`wsgi.input_terminated`): elsewhere reading to the end
    would wait for bytes that never come.
    """

    def measured(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not environ.get("CONTENT_LENGTH") and environ.get("wsgi.input_terminated"):
            body = environ["wsgi.input"].read(_MAX_BUFFERED_BYTES)
            environ["wsgi.input"] = io.BytesIO(body)
            environ["CONTENT_LENGTH"] = str(len(body))
        return application(environ, start_response)

    return measured
