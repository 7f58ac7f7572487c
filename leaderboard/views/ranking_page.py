"""Public page of the rankings: the rows of the API's public response, in the layout of the other pages."""

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.api.response_headers import page_headers
from leaderboard.models import Interval, Snapshot
from leaderboard.ranking.standing_cursors import decode_cursor, encode_cursor
from leaderboard.ranking.standing_pages import read_standing_page
from leaderboard.views.rankings import STALE_SECONDS, TTL_SECONDS

ROWS = 25
_NAMES = {Interval.DAY: "24 hours", Interval.WEEK: "7 days", Interval.MONTH: "30 days"}
_HEADERS = page_headers(TTL_SECONDS, stale_seconds=STALE_SECONDS)


@require_safe
@from_replica
def leaderboard_page(request: HttpRequest) -> HttpResponse:
    """Render agents by rank within an interval; the response is the same for every caller, and has no score."""
    requested = request.GET.get("interval", Interval.DAY.value)
    if requested not in Interval.values:
        raise Http404
    interval = Interval(requested)
    position = decode_cursor(request.GET.get("cursor", ""), interval=interval)
    page = read_standing_page(interval, position, limit=ROWS, with_score=False)
    context = {
        "rows": page.rows,
        "period": _NAMES[interval],
        "computed_at": page.rows[0]["computedAt"] if page.rows else None,
        "intervals": [
            {"name": name, "page": _page(each), "is_current": each is interval} for each, name in _NAMES.items()
        ],
        "is_first": position.offset == 0,
        "first_page": _page(interval),
        "next_page": page.next_position and _page(interval, encode_cursor(page.next_position, interval=interval)),
        "is_ranked": bool(page.rows) or Snapshot.objects.filter(interval=interval, is_current=True).exists(),
    }
    return TemplateResponse(request, "leaderboard/ranking.html", context, headers=_HEADERS)


def _page(interval: Interval, cursor: str = "") -> str:
    query = {"interval": interval.value} | ({"cursor": cursor} if cursor else {})
    return f"{reverse('leaderboard-page')}?{urlencode(query)}"
