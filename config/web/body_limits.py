"""Request body limits, by the view at the request's address."""

from wsgiref.types import WSGIEnvironment

from django.urls import Resolver404, resolve

# Default limit; a view that accepts more or less sets `max_body_bytes`.
MAX_BODY_BYTES = 1024 * 1024
# Limit for views without a credential, whose bodies have a few short texts.
SMALL_BODY_BYTES = 16 * 1024
# Methods whose request content has no meaning (RFC 9110, 9.3). No endpoint reads a DELETE's content.
METHODS_WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "DELETE"})
# Its forms are posted.
_FORMS = "/admin/"


def body_limit(environ: WSGIEnvironment) -> int:
    """Return the bytes that a request body may have; 0 if the method or the address takes none."""
    method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
    if method in METHODS_WITHOUT_BODY:
        return 0
    if path.startswith(_FORMS):
        return MAX_BODY_BYTES
    try:
        view = getattr(resolve(path).func, "cls", None)
    except Resolver404:
        view = None
    return getattr(view, "max_body_bytes", MAX_BODY_BYTES) if hasattr(view, method.lower()) else 0
