"""CORS middleware: public reads for all origins, everything else for the origins in CORS_ORIGINS."""

from collections.abc import Sequence

from corsheaders.conf import conf
from corsheaders.middleware import CorsMiddleware
from django.http import HttpRequest, HttpResponseBase
from rest_framework.permissions import AllowAny

from config.web.response_headers import any_origin_headers
from config.web.routing import view_class

_READS = ("GET", "HEAD")


class CrossOriginMiddleware(CorsMiddleware):
    """CORS headers by django-cors-headers for the listed origins, and `*` for public reads.

    Never with credentials: keys and tokens are sent in a header, which requires a listed origin, and no endpoint
    accepts cookies from other sites.
    """

    def add_response_headers(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Add the CORS headers to the response; a preflight gets the headers for the request that follows."""
        if self.is_enabled(request) and request.method in _public_reads(request):
            # For listed origins and requests without an origin as well, so that one cache entry serves all.
            _allow_all(response)
            return response
        super().add_response_headers(request, response)
        is_unlisted_origin = "Origin" in request.headers and "Access-Control-Allow-Origin" not in response
        requested_method = request.headers.get("Access-Control-Request-Method")
        reads = _public_reads(request) if request.method == "OPTIONS" and is_unlisted_origin else ()
        if requested_method in reads:
            _allow_all(response)
            response["Access-Control-Allow-Methods"] = ", ".join(reads)
            # GET does not need it; browsers expect it anyway.
            response["Access-Control-Allow-Headers"] = "content-type"
            response["Access-Control-Max-Age"] = str(conf.CORS_PREFLIGHT_MAX_AGE)
        return response


def _allow_all(response: HttpResponseBase) -> None:
    for name, value in any_origin_headers().items():
        response[name] = value


def _public_reads(request: HttpRequest) -> Sequence[str]:
    """Return the methods that only read, if the endpoint requires no permission."""
    view = view_class(request)
    # Endpoints that return more with a token list AllowAny explicitly.
    if view is None or any(permission is not AllowAny for permission in view.permission_classes):
        return ()
    return (*_READS, "POST") if getattr(view, "reads_by_post", False) else _READS
