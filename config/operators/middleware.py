"""Middleware for pages: sessions, which API requests skip, and the admin site's Content-Security-Policy.

API requests carry their credential in each call.
"""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from config.web.response_headers import page_headers


class _SkipsAPI(MiddlewareMixin):
    """Mixin that skips the middleware below /api/."""

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith("/api/"):
            return self.get_response(request)
        return super().__call__(request)


class PageSessionMiddleware(_SkipsAPI, SessionMiddleware):
    """Sessions on pages."""


class PageAuthenticationMiddleware(_SkipsAPI, AuthenticationMiddleware):
    """Authentication on pages."""


class PageMessageMiddleware(_SkipsAPI, MessageMiddleware):
    """Messages on pages."""


# Browsers may load the admin site's resources only from this host. django-unfold's Alpine evaluates attributes, and its
# pages set styles. So an injected script would run, and could send data elsewhere by navigating the browser. Escaping
# in the templates prevents injection. The policy prevents loading from other hosts, calling them, and framing.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def content_security_policy(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that adds the policy to the admin site, and to error pages, which no view makes."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.path_info.startswith("/admin/"):
            response.headers["Content-Security-Policy"] = POLICY
        elif response.headers.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault("Content-Security-Policy", page_headers(0)["Content-Security-Policy"])
        return response

    return respond
