"""Rate limit of public pages: a search or a page of many rows costs as much as the same call of the API."""

import functools
import math
from collections.abc import Callable
from typing import ParamSpec, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from config.api.response_headers import NO_STORE
from config.client_ip import client_address
from config.redis.rate_limits import CountersUnavailableError, hit

Parameters = ParamSpec("Parameters")

_MINUTE = 60


def limited_page(view: Callable[Parameters, HttpResponse]) -> Callable[Parameters, HttpResponse]:
    """Decorate a page with RATE_LIMIT_PAGES by client address; a request beyond it gets a page with status 429.

    Responses of the cache in front of Django do not count. Without Redis, requests pass.
    """

    @functools.wraps(view)
    def answer(*args: Parameters.args, **options: Parameters.kwargs) -> HttpResponse:
        request = cast(HttpRequest, args[0])
        seconds = _seconds_to_wait(request)
        if seconds is None:
            return view(*args, **options)
        response = render(request, "429.html", {"seconds": seconds}, status=429)
        response.headers["Retry-After"] = str(seconds)
        response.headers["Cache-Control"] = NO_STORE
        return response

    return answer


def _seconds_to_wait(request: HttpRequest) -> int | None:
    """Count the request; return the seconds until the window ends if it is beyond the limit."""
    limit = settings.RATE_LIMIT_PAGES
    if limit == 0:
        return None
    try:
        result = hit(f"RATE_LIMIT_PAGES:{client_address(request)}", limit=limit, seconds=_MINUTE)
    except CountersUnavailableError:
        return None
    return None if result.allowed else math.ceil(result.reset_seconds)
