"""Base of the GET endpoints: parameters described by one serializer, refused or validated before the view runs."""

import functools
import re
from typing import Any

from django_filters import FilterSet
from django_filters.utils import translate_validation
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from config.api.caching import NEVER_STORED

# Bounds of X-Ignored-Params, whose content callers choose.
_MAX_IGNORED_NAMES = 20
_MAX_IGNORED_NAME_LENGTH = 50
_NOT_IN_HEADER = re.compile(r"[^!-+\--~]")


class QueryView(APIView):
    """A GET endpoint. Its class says what it takes, and what caches may keep of it:

    `query_serializer` (a Serializer of the query parameters; the validated dict is `self.query`), `filterset_class`
    (a FilterSet whose form checks further parameters; their texts are `self.filters`), `cache_control` (the header of
    2xx answers that set none themselves; all others are never stored).
    """

    query_serializer: type[Serializer[Any]] | None = None
    filterset_class: type[FilterSet] | None = None
    cache_control: str = NEVER_STORED

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
        """Add Cache-Control and X-Ignored-Params."""
        response = super().finalize_response(request, response, *args, **kwargs)
        is_read = request.method in ("GET", "HEAD")
        kept = self.cache_control if is_read and 200 <= response.status_code < 300 else NEVER_STORED
        response.headers.setdefault("Cache-Control", kept)
        if self._ignored:
            response["X-Ignored-Params"] = ",".join(self._ignored)
        return response

    def _read_query(self, request: Request) -> None:
        serializer_class = self.query_serializer
        filterset_class: Any = self.filterset_class
        known = _known_names(serializer_class, filterset_class)
        self._ignored = _printable(set(request.query_params) - known)
        values, errors = _single_values(request, known)
        if serializer_class:
            serializer = serializer_class(data=values, context=self.get_renderer_context())
            if not serializer.is_valid():
                errors = {**serializer.errors, **errors}
            self.query = {} if errors else serializer.validated_data
        if filterset_class:
            filterset = filterset_class(data=values)
            if not filterset.is_valid():
                errors = {**translate_validation(filterset.errors).detail, **errors}
            self.filters = {name: values[name] for name in filterset_class.base_filters if name in values}
        if errors:
            raise ValidationError(errors)


class NoEndpointView(APIView):
    """Every address below /api/ that is no endpoint: 404 with the error body, also while DEBUG is on."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound

    def get(self, request: Request) -> Response:
        """Never reached: `initial` has answered, whatever the method."""
        raise NotFound


@functools.cache
def _known_names(serializer_class: type[Serializer[Any]] | None, filterset_class: Any) -> frozenset[str]:
    names = set(serializer_class().fields) if serializer_class else set()
    return frozenset(names | set(filterset_class.base_filters if filterset_class else ()))


def _single_values(request: Request, known: frozenset[str]) -> tuple[dict[str, str], dict[str, Any]]:
    """The known parameters that have a value, and an error for each that is given twice."""
    values, errors = {}, {}
    for name in known & set(request.query_params):
        given = request.query_params.getlist(name)
        if len(given) > 1:
            errors[name] = ["must be given once"]
        elif given[0]:
            values[name] = given[0]
    return values, errors


def _printable(names: set[str]) -> tuple[str, ...]:
    """Visible ASCII without commas alone, so that no caller writes a header of ours."""
    cleaned = {_NOT_IN_HEADER.sub("?", name)[:_MAX_IGNORED_NAME_LENGTH] for name in names}
    return tuple(sorted(cleaned - {""})[:_MAX_IGNORED_NAMES])
