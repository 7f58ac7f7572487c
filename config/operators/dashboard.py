"""The first page of the operators' site: panels that the apps make, each for who may see its rows.

DASHBOARD_PANELS lists them as (permission, function). A function takes the time and makes its subject's panels from
what the database and Redis know: nobody waits for an outside service. A subject that has nothing to tell makes none.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from django.utils.module_loading import import_string
from django.utils.timesince import timesince

_A_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A line of a panel: what, how much, a remark, and the page to look at.

    `is_alarming` says that an operator should do something about it.
    """

    label: str
    value: str
    note: str = ""
    page: str = ""
    is_alarming: bool = False


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Bars from left to right: (what, how many) each, and what the first and the last are."""

    title: str
    bars: tuple[tuple[str, int], ...]
    start: str
    end: str

    @property
    def rectangles(self) -> list[dict[str, Any]]:
        """Each bar with its place and height in a picture that is as wide as there are bars, and 100 high."""
        most = max((value for _, value in self.bars), default=0) or 1
        return [
            {"label": label, "value": value, "x": place, "height": value * 100 // most, "y": 100 - value * 100 // most}
            for place, (label, value) in enumerate(self.bars)
        ]

    @property
    def most(self) -> int:
        """The highest bar."""
        return max((value for _, value in self.bars), default=0)


@dataclass(frozen=True, kw_only=True)
class Panel:
    """What one subject shows."""

    title: str
    figures: tuple[Figure, ...] = ()
    chart: Chart | None = None
    note: str = ""


def add_panels(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The page's context with the panels that the caller may see. Called by django-unfold."""
    now = timezone.now()
    panels: list[Panel] = []
    for permission, path in settings.DASHBOARD_PANELS:
        if request.user.has_perm(permission):
            make: Callable[[datetime], Iterable[Panel]] = import_string(path)
            panels += make(now)
    return context | {"title": "Dashboard", "panels": panels}


def ago(then: datetime | None, now: datetime) -> str:
    """How long ago, in words."""
    if then is None:
        return "never"
    return "just now" if now - then < _A_MINUTE else f"{timesince(then, now)} ago".replace("\xa0", " ")
