"""Decorator for pages that an installation may leave out: SITE_SECTIONS."""

import functools
from collections.abc import Callable
from typing import ParamSpec

from django.conf import settings
from django.http import Http404, HttpResponse

Parameters = ParamSpec("Parameters")


def section_page(
    section: str,
) -> Callable[[Callable[Parameters, HttpResponse]], Callable[Parameters, HttpResponse]]:
    """Decorate a section's page: it responds with 404 in installations without the section."""

    def decorate(view: Callable[Parameters, HttpResponse]) -> Callable[Parameters, HttpResponse]:
        @functools.wraps(view)
        def respond(*args: Parameters.args, **options: Parameters.kwargs) -> HttpResponse:
            if section not in settings.SITE_SECTIONS:
                raise Http404
            return view(*args, **options)

        return respond

    return decorate
