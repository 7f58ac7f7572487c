"""Bases of the endpoints: calls are counted against a limit, and parameters checked, before the view itself runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from django_filters import FilterSet
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from config.api.errors import UpstreamUnavailable
from config.api.query_parameters import ignored_names, read_query
from config.api.response_headers import NEVER_STORED, deprecation_headers
from config.api.throttling import PublicLimit, rate_limit_headers
from config.redis.rate_limits import Verdict


class LimitedView(APIView):
    """An endpoint whose calls are counted against a limit, of which every answer tells what is left.

    `throttle_classes` names the limit. By default it is the one of the credential that let the caller in (`limit` of
    the authentication class), and the public one for callers without.

    Query parameters that it doesn't know are named in X-Ignored-Params: all but those of `query_serializer` (a
    Serializer) and `filterset_class` (a FilterSet).

    `own_headers` says which headers its 200s may have that no others have, each with a sentence for the description.

    `vary` is the whole Vary of its answers, where that is a promise: nothing else changes them, so that they are never
    compressed. By default each part of the service adds what it looks at.
    """

    throttle_classes: Sequence[type[BaseThrottle]] = ()
    query_serializer: type[Serializer[Any]] | None = None
    filterset_class: type[FilterSet] | None = None
    own_headers: Mapping[str, str] = {}
    vary: str | None = None

    verdicts: tuple[Verdict, ...] = ()
    # Whether the call is in the counts of its caller's usage.
    is_metered = False
    _ignored: tuple[str, ...] = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Who is calling first, then what is asked: a refused caller learns nothing about the parameters."""
        super().initial(request, *args, **kwargs)
        self._ignored = ignored_names(request.query_params, self.query_serializer, self.filterset_class)

    def perform_authentication(self, request: Request) -> None:
        """Count the call as soon as it is known who makes it, so that it counts whatever refuses it then.

        Whose credential is refused, or can't be checked, is known by his address alone.
        """
        try:
            super().perform_authentication(request)
        except (NotAuthenticated, AuthenticationFailed, UpstreamUnavailable):
            self.throttle_classes = (PublicLimit,)
            super().check_throttles(request)
            raise
        super().check_throttles(request)

    def check_throttles(self, request: Request) -> None:
        """Where the framework would count, after the permissions: it is done already."""

    def get_throttles(self) -> list[BaseThrottle]:
        """The limits that hold for this call."""
        usual = getattr(self.request.successful_authenticator, "limit", PublicLimit)
        return [limit() for limit in self.throttle_classes or (usual,)]

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add the RateLimit headers, X-Ignored-Params and Vary."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if self.vary:
            response["Vary"] = self.vary
        for name, value in rate_limit_headers(self.verdicts).items():
            response[name] = value
        if self._ignored:
            response["X-Ignored-Params"] = ",".join(self._ignored)
        return response


class QueryView(LimitedView):
    """A GET endpoint. Its class says what it takes, and what caches may keep of it:

    `query_serializer` (a Serializer of the query parameters; the validated dict is `self.query`), `filterset_class`
    (a FilterSet whose form checks further parameters; their texts are `self.filters`), `cache_control` (the header of
    2xx answers that set none themselves; all others are never stored), `successor` (on a deprecated endpoint the path
    of what replaces it; every answer names it, whatever its status).
    """

    cache_control: str = NEVER_STORED
    successor: str | None = None

    query: dict[str, Any]
    # The FilterSet's parameters as they came, checked.
    filters: dict[str, str]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """What is asked, once it is known who is calling."""
        super().initial(request, *args, **kwargs)
        if request.method in ("GET", "HEAD"):
            self.query, self.filters = read_query(request.query_params, self.query_serializer, self.filterset_class)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add Cache-Control, and on a deprecated endpoint Deprecation and Link."""
        response = super().finalize_response(request, response, *args, **kwargs)
        is_read = request.method in ("GET", "HEAD")
        kept = self.cache_control if is_read and 200 <= response.status_code < 300 else NEVER_STORED
        response.headers.setdefault("Cache-Control", kept)
        if self.successor:
            for name, value in deprecation_headers(self.successor).items():
                response[name] = value
        return response


class NoEndpointView(LimitedView):
    """Every address below /api/ that is no endpoint: 404 with the error body, also while DEBUG is on."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound

    def get(self, request: Request) -> Response:
        """Never reached: `initial` has answered, whatever the method."""
        raise NotFound
