"""Conditional requests, compression, and cookies: ETag, gzip, 304, and no cookie on a public response."""

import functools
import hashlib
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotModified
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags

from config.web.response_headers import NO_STORE, REPRESENTATION_HEADERS
from config.web.routing import view_class

_READS = ("GET", "HEAD")
# Compression does not shrink shorter bodies; the number is GZipMiddleware's.
_SHORTEST_COMPRESSED = 200
# Their formats compress already.
_COMPRESSED_TYPES = ("image/png", "image/webp")
# A longer Accept-Encoding counts as none: there are about ten content codings.
MAX_ACCEPT_ENCODING = 256
# If-None-Match is compared up to this many entity tags; a cache has few representations of one URL.
MAX_ETAGS = 64


def accepts_gzip(accept_encoding: str) -> bool:
    """Return whether the header gives gzip a weight above 0, by name in any case, or else by `*` (RFC 9110, 12.5.3)."""
    return len(accept_encoding) <= MAX_ACCEPT_ENCODING and _accepts_gzip(accept_encoding)


@functools.lru_cache(maxsize=256)
def _accepts_gzip(accept_encoding: str) -> bool:
    weights: dict[str, float] = {}
    for coding in accept_encoding.split(","):
        name, _, parameters = coding.partition(";")
        weights.setdefault(name.strip().lower(), _weight(parameters))
    return weights.get("gzip", weights.get("*", 0.0)) > 0


class CompressionMiddleware(GZipMiddleware):
    """Middleware that adds an ETag, then compresses the body if the client accepts gzip.

    Only below /api/, and public responses: admin pages hold secrets beside text that others control, and a compressed
    page's length would leak them (BREACH). Streams and pictures are not compressed, nor are responses from a view that
    declares its whole `vary`.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add the ETag and compress the response in place."""
        cache_control = response.get("Cache-Control", "")
        if (
            not isinstance(response, HttpResponse)
            or request.method not in _READS
            or not (request.path_info.startswith("/api/") or "public" in cache_control)
        ):
            return response
        # Before compression: its output differs each time. For HEAD, the view's body is still present here.
        if (
            response.status_code == 200
            and response.content
            and NO_STORE not in cache_control
            and "ETag" not in response
        ):
            # Processors have instructions for this digest.
            response["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
        is_compressed = response.get("Content-Type", "") in _COMPRESSED_TYPES
        if is_compressed or len(response.content) < _SHORTEST_COMPRESSED or getattr(view_class(request), "vary", None):
            return response
        if not accepts_gzip(request.headers.get("Accept-Encoding", "")):
            patch_vary_headers(response, ("Accept-Encoding",))
            return response
        # Django matches only the lower-case name; the decision is already made.
        request.META["HTTP_ACCEPT_ENCODING"] = "gzip"
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed


def conditional_get(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that responds with 304 if the client has the current body (RFC 9110, 15.4.5).

    Django's ConditionalGetMiddleware drops per-request headers from a 304 (rate limits, ignored parameters), and
    does not handle HEAD.
    """

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if (
            request.method not in _READS
            or response.status_code != 200
            or not matches_etag(request.headers.get("If-None-Match", ""), response.get("ETag"))
        ):
            return response
        headers = {name: value for name, value in response.items() if name.lower() not in REPRESENTATION_HEADERS}
        unchanged = HttpResponseNotModified(headers=headers)
        unchanged.cookies = response.cookies
        return unchanged

    return respond


def public_without_cookies(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that drops cookies from public responses: a cache would give them to other clients."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        directives = response.get("Cache-Control", "").lower().split(",")
        if any(directive.strip() == "public" for directive in directives):
            response.cookies.clear()
        return response

    return respond


def matches_etag(if_none_match: str, etag: str | None) -> bool:
    """Return whether the header names the ETag, by weak comparison (RFC 9110, 13.1.2): compression makes ETags weak."""
    if not if_none_match or etag is None:
        return False
    etags = parse_etags(",".join(if_none_match.split(",", MAX_ETAGS)[:MAX_ETAGS]))
    return etags == ["*"] or etag.removeprefix("W/") in (known_etag.removeprefix("W/") for known_etag in etags)


def _weight(parameters: str) -> float:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
