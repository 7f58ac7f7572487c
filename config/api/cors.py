"""What browsers let pages of other origins do: all may read what is public, those of CORS_ORIGINS may do the rest."""

from corsheaders.conf import conf
from corsheaders.middleware import CorsMiddleware
from django.http import HttpRequest, HttpResponseBase
from rest_framework.permissions import AllowAny

from config.api.routing import view_class

_READS = ("GET", "HEAD")


class CrossOriginMiddleware(CorsMiddleware):
    """The package's middleware answers pages of the listed origins; this adds `*` to what anybody may read.

    Never with credentials: a key or token is a header, which takes a listed origin, and no endpoint takes cookies of
    other sites.
    """

    def add_response_headers(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """The response itself, changed; for a preflight, what may come after it."""
        if request.method in _READS and self.is_enabled(request) and _is_public(request):
            # To pages of listed origins and to callers that are none as well, so that one answer can be kept for all.
            _allow_all(response)
            return response
        super().add_response_headers(request, response)
        is_of_other = "Origin" in request.headers and "Access-Control-Allow-Origin" not in response
        asked = request.headers.get("Access-Control-Request-Method")
        if request.method == "OPTIONS" and asked in _READS and is_of_other and _is_public(request):
            _allow_all(response)
            response["Access-Control-Allow-Methods"] = ", ".join(_READS)
            # Of no use in a read, and sent all the same.
            response["Access-Control-Allow-Headers"] = "content-type"
            response["Access-Control-Max-Age"] = str(conf.CORS_PREFLIGHT_MAX_AGE)
        return response


def _allow_all(response: HttpResponseBase) -> None:
    response["Access-Control-Allow-Origin"] = "*"
    response["Access-Control-Expose-Headers"] = ", ".join(conf.CORS_EXPOSE_HEADERS)


def _is_public(request: HttpRequest) -> bool:
    """Whether the endpoint asks for no permission."""
    view = view_class(request)
    # Where a token shows more, everybody is let in by name.
    return view is not None and all(asked is AllowAny for asked in view.permission_classes)
