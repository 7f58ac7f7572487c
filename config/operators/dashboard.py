"""Dashboard of the admin site: panels from the apps, each for operators with permission to view its rows.

DASHBOARD_PANELS lists them as (permission, function). A function takes the time and yields the panels of its subject
from the database and Redis; it calls no outside service. A subject without data yields none.
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
    """Line of a panel: label, value, remark, and a link to the relevant page.

    `is_alarming`: an operator should act on it.
    """

    label: str
    value: str
    note: str = ""
    page: str = ""
    is_alarming: bool = False


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Bar chart from left to right: (label, value) of each bar, and the labels of the first and the last."""

    title: str
    bars: tuple[tuple[str, int], ...]
    start: str
    end: str

    @property
    def rectangles(self) -> list[dict[str, Any]]:
        """Return each bar with its place and height in a picture that is as wide as there are bars, and 100 high."""
        most = max((value for _, value in self.bars), default=0) or 1
        return [
            {"label": label, "value": value, "x": place, "height": value * 100 // most, "y": 100 - value * 100 // most}
            for place, (label, value) in enumerate(self.bars)
        ]

    @property
    def most(self) -> int:
        """Return the highest value."""
        return max((value for _, value in self.bars), default=0)


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Panel of one subject."""

    title: str
    figures: tuple[Figure, ...] = ()
    chart: Chart | None = None
    note: str = ""


def add_panels(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the panels that the user may view to the page's context. Called by django-unfold."""
    now = timezone.now()
    panels: list[Panel] = []
    for permission, path in settings.DASHBOARD_PANELS:
        if request.user.has_perm(permission):
            make: Callable[[datetime], Iterable[Panel]] = import_string(path)
            panels += make(now)
    return context | {"title": "Dashboard", "panels": panels}


def time_ago(then: datetime | None, now: datetime) -> str:
    """Return the elapsed time in words."""
    if then is None:
        return "never"
    return "just now" if now - then < _A_MINUTE else f"{timesince(then, now)} ago".replace("\xa0", " ")
