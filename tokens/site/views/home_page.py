"""Home page: token lists with a search, filters and sorts in the URL."""

from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from config.api.replica_reads import from_replica
from config.events.outbox import newest_event_id
from config.site.formats import address_with
from config.site.page_input import refuse_repeated
from config.site.page_limits import limited_page
from config.web.response_headers import NO_STORE, page_headers
from tokens.catalogue.list_plan import SearchTimeoutError
from tokens.catalogue.list_statements import ListStatements
from tokens.catalogue.selections import Selection
from tokens.catalogue.totals import EXACT_UP_TO, fetch_total
from tokens.site import home_lists
from tokens.site.filter_chips import build_chips, filter_parameters
from tokens.site.home_lists import ALL_CHAINS, GRADUATING, HOME_SORTS, NEW, TRENDING, HomeList, HomeQuery
from tokens.site.token_rows import TokenRow, read_rows

_TITLES = {NEW: _("New"), TRENDING: _("Trending"), GRADUATING: _("Graduating")}
_SORT_TITLES = {
    "newest": _("Newest first"),
    "market-cap": _("Market cap"),
    "volume": _("Volume, 24 hours"),
    "change": _("Price change, 24 hours"),
}


@require_safe
@limited_page
@from_replica
def home(request: HttpRequest) -> HttpResponse:
    """Render a list of tokens; 503 if a search exceeds its time limit."""
    refuse_repeated(request.GET, home_lists.PARAMETERS)
    query = home_lists.parse_home_query(request.GET.dict())
    tabs = [NEW, TRENDING, GRADUATING] if home_lists.has_curve_tokens() else [NEW, TRENDING]
    if query.tab not in tabs:
        query = home_lists.parse_home_query({**request.GET.dict(), "tab": NEW})
    # Before the list, and from the same database: a change is in the list, or its event has a larger id.
    stream = _stream_path(query) if query.event_types else None
    headers, status = page_headers(2), 200
    try:
        tokens = home_lists.read_list(query)
    except SearchTimeoutError:
        tokens, status = HomeList([]), 503
        headers["Cache-Control"] = NO_STORE
    rows = read_rows(tokens.token_ids)
    context = {
        **_describe_query(query, tabs),
        **_describe_filters(request, query, rows),
        "rows": rows,
        "next_cursor": tokens.cursor,
        "found": tokens.total,
        # Beyond it, totals are estimates.
        "most_counted": EXACT_UP_TO,
        "has_timed_out": status == 503,
        "stream": stream,
        # On the first page, the number of all tokens is beside the installation's own sentence.
        "launched": fetch_total(ListStatements.of(Selection())) if settings.SITE_INTRO and not request.GET else None,
    }
    return TemplateResponse(request, "site/home.html", context, headers=headers, status=status)


def _stream_path(query: HomeQuery) -> str:
    """Return the path to the events that change the list, from now on."""
    chain_id = settings.SOLANA_CHAIN_ID if query.tab == GRADUATING else query.chain_id
    of_chain = {"chainId": chain_id} if chain_id else {}
    parameters = {"type": ",".join(query.event_types), **of_chain, "lastEventId": newest_event_id()}
    return f"{reverse('token-stream')}?{urlencode(parameters, safe=',')}"


def _describe_filters(request: HttpRequest, query: HomeQuery, rows: list[TokenRow]) -> dict[str, Any]:
    """Return the context for the chips."""
    address = partial(address_with, {"request": request})
    parameters = filter_parameters(query.filters)
    return {
        "chip_groups": build_chips(query.filters, (row.interface for row in rows), address),
        "filters": parameters,
        "filter_query": urlencode(parameters),
        "without_filters": address(**dict.fromkeys(parameters)),
    }


def _describe_query(query: HomeQuery, tabs: list[str]) -> dict[str, Any]:
    """Return the context for the tabs and filters."""
    chain = query.chain_id
    return {
        "query": query,
        "search": query.q,
        "tabs": [(tab, _TITLES[tab], tab == query.tab and not query.q) for tab in tabs],
        # Defaults have no value, so that they stay out of URLs.
        "sorts": [
            (name if index else "", _SORT_TITLES[name], name == query.sort) for index, name in enumerate(HOME_SORTS)
        ],
        "chains": [
            ("" if key == settings.SITE_DEFAULT_CHAIN else key, name, key == chain)
            for key, name in home_lists.choosable_chains(chain).items()
        ],
        "all_chains": ALL_CHAINS,
        "all_chains_choice": ALL_CHAINS if settings.SITE_DEFAULT_CHAIN else "",
        "shows_curves": query.tab == GRADUATING and not query.q,
        "has_sorts": not query.is_symbol and (query.tab == NEW or bool(query.q)),
    }
