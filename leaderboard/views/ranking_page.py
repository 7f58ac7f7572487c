"""Public rankings page: agents by rank, with their score components in words."""

from functools import partial
from math import inf
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.site.page_input import parse_choice, parse_page_cursor
from config.site.page_limits import limited_page
from config.site.sections import section_page
from config.web.response_headers import page_headers
from leaderboard.models import Interval, Snapshot
from leaderboard.ranking.standing_cursors import encode_cursor, parse_cursor
from leaderboard.ranking.standing_pages import read_standing_page
from leaderboard.views.rankings import STALE_SECONDS, TTL_SECONDS

ROWS = 25
_NAMES = {
    Interval.DAY: gettext_lazy("24 hours"),
    Interval.WEEK: gettext_lazy("7 days"),
    Interval.MONTH: gettext_lazy("30 days"),
}
_HEADERS = page_headers(TTL_SECONDS, stale_seconds=STALE_SECONDS)


@require_safe
@section_page("leaderboard")
@limited_page
@from_replica
def leaderboard_page(request: HttpRequest) -> HttpResponse:
    """Render agents by rank within an interval; the response is the same for every caller, and has no score."""
    parameters = request.GET.dict()
    interval = Interval(parse_choice(parameters, "interval", Interval.values) or Interval.DAY)
    position = parse_page_cursor(parameters, partial(parse_cursor, interval=interval))
    page = read_standing_page(interval, position, limit=ROWS, with_score=True)
    threshold = inf if page.large_audience is None else page.large_audience
    context = {
        # A row already has runs and casts as figures, so only a large audience is marked.
        "rows": [
            {**row, "has_large_audience": row["score"]["components"].get("audience", 0) >= threshold}
            for row in page.rows
        ],
        "period": _NAMES[interval],
        "computed_at": page.rows[0]["computedAt"] if page.rows else None,
        "intervals": [
            {"name": name, "page": _page(page_interval), "is_current": page_interval is interval}
            for page_interval, name in _NAMES.items()
        ],
        "is_first": position.offset == 0,
        "first_page": _page(interval),
        "next_page": page.next_position and _page(interval, encode_cursor(page.next_position, interval=interval)),
        "is_ranked": bool(page.rows) or Snapshot.objects.filter(interval=interval, is_current=True).exists(),
    }
    return TemplateResponse(request, "site/ranking.html", context, headers=_HEADERS)


def _page(interval: Interval, cursor: str = "") -> str:
    query = {"interval": interval.value} | ({"cursor": cursor} if cursor else {})
    return f"{reverse('leaderboard-page')}?{urlencode(query)}"
