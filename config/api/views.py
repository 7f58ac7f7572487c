"""Base of the GET endpoints: parameters described by one serializer, refused or validated before the view runs."""

from typing import Any

from django_filters import FilterSet
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from config.api.caching import NEVER_STORED
from config.api.deprecation import deprecation_headers
from config.api.queries import ignored_names, read_query


class QueryView(APIView):
    """A GET endpoint. Its class says what it takes, and what caches may keep of it:

    `query_serializer` (a Serializer of the query parameters; the validated dict is `self.query`), `filterset_class`
    (a FilterSet whose form checks further parameters; their texts are `self.filters`), `cache_control` (the header of
    2xx answers that set none themselves; all others are never stored), `successor` (on a deprecated endpoint the path
    of what replaces it; every answer names it, whatever its status).
    """

    query_serializer: type[Serializer[Any]] | None = None
    filterset_class: type[FilterSet] | None = None
    cache_control: str = NEVER_STORED
    successor: str | None = None

    query: dict[str, Any]
    # The FilterSet's parameters as they came, checked.
    filters: dict[str, str]
    _ignored: tuple[str, ...] = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Who is calling first, then what is asked: a refused caller learns nothing about the parameters."""
        super().initial(request, *args, **kwargs)
        if request.method in ("GET", "HEAD"):
            self._read_query(request)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add Cache-Control, X-Ignored-Params, and on a deprecated endpoint Deprecation and Link."""
        response = super().finalize_response(request, response, *args, **kwargs)
        is_read = request.method in ("GET", "HEAD")
        kept = self.cache_control if is_read and 200 <= response.status_code < 300 else NEVER_STORED
        response.headers.setdefault("Cache-Control", kept)
        if self._ignored:
            response["X-Ignored-Params"] = ",".join(self._ignored)
        if self.successor:
            for name, value in deprecation_headers(self.successor).items():
                response[name] = value
        return response

    def _read_query(self, request: Request) -> None:
        known = self.query_serializer, self.filterset_class
        self._ignored = ignored_names(request.query_params, *known)
        self.query, self.filters = read_query(request.query_params, *known)


class NoEndpointView(APIView):
    """Every address below /api/ that is no endpoint: 404 with the error body, also while DEBUG is on."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound

    def get(self, request: Request) -> Response:
        """Never reached: `initial` has answered, whatever the method."""
        raise NotFound
