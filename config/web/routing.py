"""URL routes that accept an optional trailing slash, and a request's view class.

Never by a redirect, which would lose a POST body.
"""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve
from django.urls.resolvers import RoutePattern, URLPattern

# Paths for programs: errors below them are always JSON.
_JSON_PATHS = ("/api/", "/mcp", "/healthz", "/readyz", "/metrics")


class _OptionalSlash(RoutePattern):
    def match(self, path: str) -> Any:
        return super().match(path) or (super().match(path[:-1]) if path.endswith("/") else None)


def endpoint(route: str, view: Callable[..., HttpResponseBase], *, name: str | None = None) -> URLPattern:
    """Return a URL pattern for one view, as `django.urls.path`; `route` is written without a trailing slash."""
    return URLPattern(_OptionalSlash(route, name=name, is_endpoint=True), view, None, name)


def is_json_path(path: str) -> bool:
    """Return whether a path's errors are JSON, and not pages or texts."""
    return path.startswith(_JSON_PATHS)


def view_class(request: HttpRequest) -> Any:
    """Return the API view class at the request's path; None if there is none."""
    try:
        # A preflight request has not been resolved.
        match = request.resolver_match or resolve(request.path_info)
    except Resolver404:
        return None
    return getattr(match.func, "cls", None)
