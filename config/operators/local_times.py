"""Admin site times in the operator's zone, which a script on its pages stores in a cookie.

Days in charts, quotas and partitions stay UTC, and are labelled so. The API and logs are UTC.
"""

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.http import HttpRequest, HttpResponseBase
from django.template import Library
from django.utils import timezone

COOKIE = "time_zone"

register = Library()


def operator_time_zone(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return a middleware that activates the operator's zone for the admin site; UTC without a known one."""

    def respond(request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith("/admin/"):
            return get_response(request)
        with timezone.override(find_zone(request.COOKIES.get(COOKIE, "")) or UTC):
            # Templates are rendered by now: TemplateResponse is rendered below the middleware.
            return get_response(request)

    return respond


def find_zone(name: str) -> tzinfo | None:
    """Return the zone with this name in the IANA database, if there is one."""
    return ZoneInfo(name) if name in _zone_names() else None


def zone_name() -> str:
    """Return the active zone's name for `find_zone`. Django's own is "-05" for Etc/GMT+5."""
    return str(timezone.get_current_timezone())


@cache
def _zone_names() -> frozenset[str]:
    """Return the names that are safe to load: any other text may be a path."""
    return frozenset(available_timezones())


@register.filter
def local_time(moment: datetime, timespec: str = "minutes") -> str:
    """Return a moment in the operator's zone, such as 2026-11-26 10:30 CET; `timespec` as in `datetime.isoformat`."""
    local = timezone.localtime(moment)
    return f"{local.replace(tzinfo=None).isoformat(' ', timespec)} {local.tzname()}"


def zone_label(request: HttpRequest) -> tuple[str, str]:
    """Return the time zone label for each page's header, and its kind. Called by django-unfold."""
    return f"Times in {zone_name()}", "default"
