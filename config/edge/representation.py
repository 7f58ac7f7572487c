"""The form in which an answer goes out: its ETag, gzip for who asks for it, and 304 for who has it already."""

import functools
import hashlib
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotModified
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags

from config.api.response_headers import NEVER_STORED, REPRESENTATION_HEADERS
from config.api.routing import view_class

_READS = ("GET", "HEAD")
# Shorter answers gain nothing by compression; the number is GZipMiddleware's.
_SHORTEST_COMPRESSED = 200


@functools.lru_cache(maxsize=256)
def accepts_gzip(accept_encoding: str) -> bool:
    """Whether the header gives gzip a weight above 0: by its name in any case, or else by `*` (RFC 9110, 12.5.3)."""
    weights: dict[str, float] = {}
    for coding in accept_encoding.split(","):
        name, _, parameters = coding.partition(";")
        weights.setdefault(name.strip().lower(), _weight(parameters))
    return weights.get("gzip", weights.get("*", 0.0)) > 0


class CompressionMiddleware(GZipMiddleware):
    """Gives answers an ETag, then compresses them for those who accept gzip.

    Only below /api/, and what is public: the pages of the administration hold secrets beside what others may choose,
    and their length, once compressed, would tell of one by the other (BREACH). Streams go out as they come, as do the
    answers of a view that says all that they depend on (`vary`).
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The response itself, changed."""
        kept = response.get("Cache-Control", "")
        if (
            not isinstance(response, HttpResponse)
            or request.method not in _READS
            or not (request.path_info.startswith("/api/") or "public" in kept)
        ):
            return response
        # Before compression, whose result differs each time. HEAD has the body of GET up to here, if the view makes it.
        if response.status_code == 200 and response.content and NEVER_STORED not in kept and "ETag" not in response:
            # Processors compute this digest by instructions of their own.
            response["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
        if len(response.content) < _SHORTEST_COMPRESSED or getattr(view_class(request), "vary", None):
            return response
        if not accepts_gzip(request.headers.get("Accept-Encoding", "")):
            patch_vary_headers(response, ("Accept-Encoding",))
            return response
        # Django looks for the name alone, in lower case; it is decided already.
        request.META["HTTP_ACCEPT_ENCODING"] = "gzip"
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed


def answer_conditions(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware that answers 304 to who has the current body already (RFC 9110, 15.4.5).

    Django's own ConditionalGetMiddleware drops from a 304 what belongs to the request (rate limits, ignored
    parameters), and has none for HEAD.
    """

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if (
            request.method not in _READS
            or response.status_code != 200
            or not is_current(request.headers.get("If-None-Match", ""), response.get("ETag"))
        ):
            return response
        kept = {name: value for name, value in response.items() if name.lower() not in REPRESENTATION_HEADERS}
        unchanged = HttpResponseNotModified(headers=kept)
        unchanged.cookies = response.cookies
        return unchanged

    return answer


def is_current(if_none_match: str, etag: str | None) -> bool:
    """Whether the header names the ETag, by weak comparison (RFC 9110, 13.1.2): compression makes ETags weak."""
    if not if_none_match or etag is None:
        return False
    known = parse_etags(if_none_match)
    return known == ["*"] or etag.removeprefix("W/") in (other.removeprefix("W/") for other in known)


def _weight(parameters: str) -> float:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
