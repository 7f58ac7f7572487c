"""Limits of public pages: a search or a page of many rows costs as much as the same call of the API."""

import functools
import math
from collections.abc import Callable
from typing import ParamSpec, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from config.api.response_headers import NO_STORE
from config.client_ip import client_address
from config.redis.rate_limits import CountersUnavailableError, hit
from config.site.page_input import MAX_QUERY_STRING, PageInputError, refuse_longer

Parameters = ParamSpec("Parameters")

_MINUTE = 60


def limited_page(view: Callable[Parameters, HttpResponse]) -> Callable[Parameters, HttpResponse]:
    """Decorate a page with RATE_LIMIT_PAGES by client address, and with the page of a PageInputError of the view.

    A request beyond the limit gets a page with status 429. Responses of the cache in front of Django do not count.
    Without Redis, requests pass. An invalid parameter, or a query longer than any page's, which the page's links would
    repeat, gets a page with status 400.
    """

    @functools.wraps(view)
    def answer(*args: Parameters.args, **options: Parameters.kwargs) -> HttpResponse:
        request = cast(HttpRequest, args[0])
        seconds = _seconds_to_wait(request)
        if seconds is not None:
            headers = {"Cache-Control": NO_STORE, "Retry-After": str(seconds)}
            return TemplateResponse(request, "429.html", {"seconds": seconds}, status=429, headers=headers)
        try:
            refuse_longer(request.META.get("QUERY_STRING", ""), "query", MAX_QUERY_STRING)
            return view(*args, **options)
        except PageInputError as error:
            # htmx shows the message in the part of the page that it has requested.
            headers = {"Cache-Control": NO_STORE, "HX-Reselect": "#refusal", "HX-Reswap": "innerHTML"}
            context = {"field": error.field, "rule": error.rule}
            return TemplateResponse(request, "site/bad_parameter.html", context, status=400, headers=headers)

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
