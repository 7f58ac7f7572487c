"""Admin site dashboard: panels from the apps, each for operators with permission to view its rows.

Each app registers its panel sources in its module `dashboard`. A panel without data has a text about what would fill
it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.module_loading import autodiscover_modules
from django.utils.text import slugify
from django.utils.timesince import timesince

_A_MINUTE = timedelta(minutes=1)
# Lists that the dashboard can search.
_SEARCHED = (
    "tokens.token",
    "tokens.indexrequest",
    "tokens.deployment",
    "pretokens.pretoken",
    "accounts.partnerkey",
    "accounts.webhookendpoint",
    "accounts.person",
)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Panel line: label, value, remark, and a link to the relevant page.

    `is_alarming`: an operator should act on it.
    """

    label: str
    value: str
    note: str = ""
    page: str = ""
    is_alarming: bool = False


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Bar chart from left to right: (label, value) for each bar, and the labels below the first and the last."""

    title: str
    bars: tuple[tuple[str, int], ...]
    start: str
    end: str

    @property
    def rectangles(self) -> list[dict[str, Any]]:
        """Return each bar's position and height in a picture that is as wide as there are bars, and 100 high."""
        most = max((value for _, value in self.bars), default=0) or 1
        return [
            {"label": label, "value": value, "x": index, "height": value * 100 // most, "y": 100 - value * 100 // most}
            for index, (label, value) in enumerate(self.bars)
        ]

    @property
    def most(self) -> int:
        """Return the highest value."""
        return max((value for _, value in self.bars), default=0)


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Panel about one subject."""

    title: str
    figures: tuple[Figure, ...] = ()
    chart: Chart | None = None
    note: str = ""
    # While there is no data: one sentence on what would fill the panel, and where that is set up.
    empty_text: str = ""

    @property
    def anchor(self) -> str:
        """Return the panel's id in the page."""
        return slugify(self.title)

    @property
    def is_alarming(self) -> bool:
        return any(figure.is_alarming for figure in self.figures)


@dataclass(frozen=True, kw_only=True)
class Search:
    """List search: the name of its rows, its URL, and what a text may be."""

    label: str
    page: str
    help_text: str


@dataclass(frozen=True, kw_only=True)
class PanelSource:
    """Source of a subject's panels: their place, and the permission to view their rows.

    `read` takes the time and yields panels from the database and Redis; it calls no outside service.
    """

    sort_key: int
    permission: str
    read: Callable[[datetime], Iterable[Panel]]


_sources: list[PanelSource] = []


def register_panels(*sources: PanelSource) -> None:
    """Add panels to the dashboard; an app's module `dashboard` calls this."""
    _sources.extend(sources)


def panel_sources() -> list[PanelSource]:
    """Return all apps' sources, sorted by `sort_key`."""
    autodiscover_modules("dashboard")
    return sorted(_sources, key=lambda source: source.sort_key)


def add_panels(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the panels that the user may view to the page's context. Called by django-unfold."""
    now = timezone.now()
    panels = [
        panel for source in panel_sources() if request.user.has_perm(source.permission) for panel in source.read(now)
    ]
    alarming = [panel for panel in panels if panel.is_alarming]
    return context | {"title": "Dashboard", "panels": panels, "alarming": alarming, "searches": _searches(request)}


def _searches(request: HttpRequest) -> list[Search]:
    """Return the searches for lists that the user may view, the most frequent one first."""
    pages = [admin.site.get_model_admin(apps.get_model(label)) for label in _SEARCHED]
    return [
        Search(
            label=str(page.opts.verbose_name_plural).capitalize(),
            page=reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_changelist"),
            help_text=str(page.search_help_text),
        )
        for page in pages
        if page.has_view_permission(request)
    ]


def time_ago(then: datetime | None, now: datetime) -> str:
    """Return the elapsed time in words."""
    if then is None:
        return "never"
    return "just now" if now - then < _A_MINUTE else f"{timesince(then, now)} ago".replace("\xa0", " ")
