"""Base views: authenticate, apply rate limits and validate parameters before the view runs."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from django.http import HttpRequest
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from config.api.errors import UpstreamUnavailableError
from config.api.query_parameters import ignored_parameters, parse_query
from config.api.throttling import PublicLimit, rate_limit_headers
from config.redis.rate_limits import RateLimitResult
from config.web.response_headers import NO_STORE, deprecation_headers


class LimitedView(APIView):
    """Base for rate-limited endpoints; every response has the remaining quota.

    Every request counts for its caller's general limit: the one that the accepted credential's authentication class has
    as `limit`, and the public limit without a credential. `throttle_classes` adds further limits.

    X-Ignored-Params lists the unknown query parameters: all that `query_serializer` (a Serializer) lacks.

    `extra_headers` maps headers that only its 200s have to a description or an OpenAPI object.

    `reads_by_post`: whether POST only reads, so that pages from any origin may send it if the endpoint is public.

    `security_by_method` maps methods to OpenAPI security requirements; by default `authentication_classes` has them.

    `vary` is the whole Vary header on its responses. It guarantees that nothing else changes them, so they are never
    compressed. By default each middleware adds its headers.
    """

    throttle_classes: Sequence[type[BaseThrottle]] = ()
    query_serializer: type[Serializer[Any]] | None = None
    extra_headers: Mapping[str, str | Mapping[str, Any]] = {}
    security_by_method: Mapping[str, list[dict[str, list[str]]]] = {}
    reads_by_post = False
    vary: str | None = None

    limit_results: tuple[RateLimitResult, ...] = ()
    # Whether its credential is rejected or can't be verified.
    is_rejected = False
    # Whether the request is counted in its caller's usage.
    is_usage_counted = False
    # Slots in `config.processes.concurrency_limits`, until the response is made.
    held_slots: ExitStack
    _ignored = ""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Release the slots that the request has taken, however it ends."""
        with ExitStack() as self.held_slots:
            return super().dispatch(request, *args, **kwargs)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Authenticate first, then check the parameters: a rejected caller learns nothing about them."""
        super().initial(request, *args, **kwargs)
        self._ignored = ignored_parameters(request.query_params, self.query_serializer)

    def perform_authentication(self, request: Request) -> None:
        """Count the request right after authentication, so that it counts even if it is rejected later.

        A request with a rejected or unverifiable credential counts by its address.
        """
        try:
            super().perform_authentication(request)
        except (NotAuthenticated, AuthenticationFailed, UpstreamUnavailableError):
            self.is_rejected = True
            super().check_throttles(request)
            raise
        super().check_throttles(request)

    def check_throttles(self, request: Request) -> None:
        """Do nothing where the framework would count: after the permissions, the request is already counted."""

    def get_throttles(self) -> list[BaseThrottle]:
        """Return this request's limits: the general one, and its own unless the credential was rejected."""
        general = getattr(self.request.successful_authenticator, "limit", PublicLimit)
        own = () if self.is_rejected else self.own_limits()
        return [limit() for limit in dict.fromkeys((general, *own))]

    def own_limits(self) -> Sequence[type[BaseThrottle]]:
        """Return this request's limits besides the general one."""
        return self.throttle_classes

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add the RateLimit headers, X-Ignored-Params and Vary."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if self.vary:
            response["Vary"] = self.vary
        for name, value in rate_limit_headers(self.limit_results).items():
            response[name] = value
        if self._ignored:
            response["X-Ignored-Params"] = self._ignored
        return response


class QueryView(LimitedView):
    """Base for GET endpoints, configured by class attributes.

    `query_serializer`: a Serializer for the query parameters; the validated dict is `self.query`. `cache_control`: the
    header for 2xx responses that set none themselves; all others are never cached. `successor`: on a deprecated
    endpoint the replacement's path, which every response names, whatever its status.
    """

    cache_control: str = NO_STORE
    successor: str | None = None

    query: dict[str, Any]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Validate the query, after authentication."""
        super().initial(request, *args, **kwargs)
        if request.method in ("GET", "HEAD"):
            self.query = parse_query(request.query_params, self.query_serializer)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add Cache-Control, and on a deprecated endpoint Deprecation and Link."""
        response = super().finalize_response(request, response, *args, **kwargs)
        is_read = request.method in ("GET", "HEAD")
        cache_control = self.cache_control if is_read and 200 <= response.status_code < 300 else NO_STORE
        response.headers.setdefault("Cache-Control", cache_control)
        if self.successor:
            for name, value in deprecation_headers(self.successor).items():
                response[name] = value
        return response


class NoEndpointView(LimitedView):
    """Fallback for every path below /api/ without an endpoint: 404 with the error body, also while DEBUG is on."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound

    def get(self, request: Request) -> Response:
        """Raise NotFound; never reached, because `initial` raises for every method."""
        raise NotFound
