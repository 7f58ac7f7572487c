"""Limits on log-in attempts and log-in pages by address, over all names, and pages for refused attempts."""

import math
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from config.processes.concurrency_limits import BusyError
from config.redis.rate_limits import CountersUnavailableError, hit
from config.web.client_ip import client_address

_SECONDS = 60
# Pages that check a password or a code when a form is sent.
_COUNTED = ("/admin/login/", "/admin/password_change/", "/admin/second-factor/")


class TooManyAttemptsError(Exception):
    """Raised for an attempt beyond its address's limit; `seconds` is the time until the next one, at least 1."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many log-in attempts, next one in {seconds} s")
        self.seconds = seconds


def count_attempt(request: HttpRequest) -> None:
    """Count a password or a code from the client address. Raises TooManyAttemptsError.

    While Redis is down attempts pass: the lock-out counts in PostgreSQL, and a process checks one password at a time.
    """
    _count(request, "RATE_LIMIT_LOGIN")


def _count(request: HttpRequest, setting: str) -> None:
    limit: int = getattr(settings, setting)
    if not limit:
        return
    try:
        result = hit(f"{setting}:{client_address(request)}", limit=limit, seconds=_SECONDS)
    except CountersUnavailableError:
        return
    if not result.allowed:
        raise TooManyAttemptsError(max(1, math.ceil(result.reset_seconds)))


def refusal_page(request: HttpRequest, *, title: str, text: str, status: int, seconds: int) -> HttpResponse:
    """Return the page for a refused log-in, with Retry-After."""
    page = render(request, "accounts/refused_log_in.html", {"title": title, "text": text}, status=status)
    page.headers["Retry-After"] = str(seconds)
    page.headers["Cache-Control"] = "no-store"
    return page


class LoginLimitMiddleware(MiddlewareMixin):
    """Middleware for admin forms that check a password or a code; runs after the CSRF middleware.

    Forms that other sites send are refused before, and are not counted.
    """

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        """Return 429 for an attempt, or a log-in page, beyond its limit."""
        if not request.path_info.startswith(_COUNTED):
            return None
        try:
            if request.method == "POST":
                count_attempt(request)
            else:
                # Open without an account, as the public pages are, whose counter this is.
                _count(request, "RATE_LIMIT_PAGES")
        except TooManyAttemptsError as error:
            text = f"This address has made too many log-in attempts. Try again in {error.seconds} s."
            return refusal_page(request, title="Too many attempts", text=text, status=429, seconds=error.seconds)
        return None

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return 503 while other passwords are checked."""
        if not isinstance(exception, BusyError) or not request.path_info.startswith(_COUNTED):
            return None
        text = "Other log-ins are being checked. Try again in a second."
        return refusal_page(request, title="Too many log-ins", text=text, status=503, seconds=1)
