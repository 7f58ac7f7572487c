"""Addresses without a trailing slash that work with one too, and whose view a request's address is.

Never by a redirect, which would lose a POST.
"""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve
from django.urls.resolvers import RoutePattern, URLPattern


class _OptionalSlash(RoutePattern):
    def match(self, path: str) -> Any:
        return super().match(path) or (super().match(path[:-1]) if path.endswith("/") else None)


def endpoint(route: str, view: Callable[..., HttpResponseBase], *, name: str | None = None) -> URLPattern:
    """Like `django.urls.path` for one view; `route` is written without a trailing slash."""
    return URLPattern(_OptionalSlash(route, name=name, is_endpoint=True), view, None, name)


def view_class(request: HttpRequest) -> Any:
    """The class of the API's view at the request's address; None where there is none."""
    try:
        # A preflight has come to no view.
        match = request.resolver_match or resolve(request.path_info)
    except Resolver404:
        return None
    return getattr(match.func, "cls", None)
