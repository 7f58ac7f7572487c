"""Limits for public pages, their pictures and share cards, each with its own counter.

A search or a page with many rows costs as much as the same API call. A page shows many pictures, and drawing a card
takes a tenth of a second.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.response import TemplateResponse

from config.redis.rate_limits import CountersUnavailableError, hit
from config.site.page_input import MAX_QUERY_STRING, PageInputError, refuse_longer
from config.web.client_ip import client_address
from config.web.response_headers import NO_STORE

View = Callable[..., HttpResponse]

_MINUTE = 60


def limited_page(view: View) -> View:
    """Decorate a page with RATE_LIMIT_PAGES by client address, and with an error page for the view's PageInputError.

    A request beyond the limit gets a page with status 429. Responses from the cache in front of Django do not count.
    Without Redis, requests pass. An invalid parameter gets a page with status 400. So does a query that is longer than
    any page's, because the page's links would repeat it.
    """

    @functools.wraps(view)
    def respond(*args: Any, **options: Any) -> HttpResponse:
        request = cast(HttpRequest, args[0])
        refusal = refuse_page(request)
        if refusal is not None:
            return refusal
        try:
            refuse_longer(request.META.get("QUERY_STRING", ""), "query", MAX_QUERY_STRING)
            return view(*args, **options)
        except PageInputError as error:
            # htmx shows the message in the page part that it has requested.
            headers = {"Cache-Control": NO_STORE, "HX-Reselect": "#refusal", "HX-Reswap": "innerHTML"}
            context = {"field": error.field, "rule": error.rule}
            return TemplateResponse(request, "site/bad_parameter.html", context, status=400, headers=headers)

    return respond


def refuse_page(request: HttpRequest) -> HttpResponse | None:
    """Count a page for the client address; return the page with status 429 if it is beyond RATE_LIMIT_PAGES."""
    seconds = _seconds_to_wait(request, "RATE_LIMIT_PAGES")
    if seconds is None:
        return None
    page = render(request, "429.html", {"seconds": seconds}, status=429)
    page.headers["Cache-Control"], page.headers["Retry-After"] = NO_STORE, str(seconds)
    return page


def limited_picture(view: View) -> View:
    """Decorate a picture with RATE_LIMIT_PICTURES likewise; the response beyond it has no body."""
    return _limit(view, "RATE_LIMIT_PICTURES")


def limited_card(view: View) -> View:
    """Decorate a picture that is drawn with RATE_LIMIT_CARDS likewise; the response beyond it has no body."""
    return _limit(view, "RATE_LIMIT_CARDS")


def _limit(view: View, setting: str) -> View:
    @functools.wraps(view)
    def respond(*args: Any, **options: Any) -> HttpResponse:
        seconds = _seconds_to_wait(cast(HttpRequest, args[0]), setting)
        if seconds is None:
            return view(*args, **options)
        return HttpResponse(status=429, headers={"Cache-Control": NO_STORE, "Retry-After": str(seconds)})

    return respond


def _seconds_to_wait(request: HttpRequest, setting: str) -> int | None:
    """Count the request; return the seconds until the window ends if it is beyond the limit."""
    limit = getattr(settings, setting)
    if limit == 0:
        return None
    try:
        result = hit(f"{setting}:{client_address(request)}", limit=limit, seconds=_MINUTE)
    except CountersUnavailableError:
        return None
    return None if result.allowed else math.ceil(result.reset_seconds)
