"""What browsers let pages of other origins do: all may read what is public, those of CORS_ORIGINS may do the rest."""

from corsheaders.conf import conf
from corsheaders.middleware import CorsMiddleware
from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, resolve
from rest_framework.permissions import AllowAny

_READS = ("GET", "HEAD")


class CrossOriginMiddleware(CorsMiddleware):
    """The package's middleware answers pages of the listed origins; this adds `*` to what anybody may read.

    Never with credentials: a key or token is a header, which takes a listed origin, and no endpoint takes cookies of
    other sites.
    """

    def add_response_headers(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The response itself, changed; for a preflight, what may come after it."""
        super().add_response_headers(request, response)
        if "Origin" not in request.headers or not self.is_enabled(request):
            return response
        is_preflight = request.method == "OPTIONS"
        method = request.headers.get("Access-Control-Request-Method") if is_preflight else request.method
        is_of_listed = "Access-Control-Allow-Origin" in response
        if method not in _READS or (is_preflight and is_of_listed) or not _is_public(request):
            return response
        # To listed origins as well, so that one answer can be kept for all.
        response["Access-Control-Allow-Origin"] = "*"
        response["Access-Control-Expose-Headers"] = ", ".join(conf.CORS_EXPOSE_HEADERS)
        if is_preflight:
            response["Access-Control-Allow-Methods"] = ", ".join(_READS)
            # Of no use in a read, and sent all the same.
            response["Access-Control-Allow-Headers"] = "content-type"
            response["Access-Control-Max-Age"] = str(conf.CORS_PREFLIGHT_MAX_AGE)
        return response


def _is_public(request: HttpRequest) -> bool:
    """Whether the endpoint asks for no permission."""
    try:
        # A preflight has come to no view.
        match = request.resolver_match or resolve(request.path_info)
    except Resolver404:
        return False
    view = getattr(match.func, "cls", None)
    # Where a token shows more, everybody is let in by name.
    return view is not None and all(asked is AllowAny for asked in view.permission_classes)
