"""Django's middleware for people with sessions, which the API is spared: its callers say in each call who they are."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin


class _ForPages(MiddlewareMixin):
    """Passes by what is below /api/."""

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith("/api/"):
            return self.get_response(request)
        return super().__call__(request)


class PageSessions(_ForPages, SessionMiddleware):
    """Sessions."""


class PageAuthentication(_ForPages, AuthenticationMiddleware):
    """Who is logged in."""


class PageMessages(_ForPages, MessageMiddleware):
    """Notes to who is logged in."""


# What browsers may load for the operators' site: nothing from another host.
# django-unfold's Alpine evaluates what stands in attributes, and its pages set styles, so that an injected script would
# run, and could send what it reads elsewhere by leading the browser there. What keeps a launcher's text from being one
# is that pages escape it. The policy keeps pages from loading from other hosts, from calling them, and out of frames.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def add_policy(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.path_info.startswith("/admin/"):
            response.headers["Content-Security-Policy"] = POLICY
        return response

    return answer
