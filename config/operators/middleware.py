"""Django's middleware for people with sessions, which the API is spared: its callers say in each call who they are."""

from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
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
