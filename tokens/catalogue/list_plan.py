"""Plans for token lists: which statements return a list's page and its total.

A scan in sort order fills a page quickly if many tokens match, and may read the whole table for ten rows if few do.
Sorting all matches costs the same for each page, and takes seconds for a frequent word. The plan chooses by the total.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from config.postgresql.compiled_queries import CompiledQuery
from config.postgresql.timeouts import StatementTimeoutError, fetch_before_deadline
from tokens.catalogue import listing, text_search
from tokens.catalogue.listing import ListSort, PageRequest, TokenPage
from tokens.catalogue.records import NO_EXTRAS, Extras
from tokens.catalogue.selections import Selection
from tokens.catalogue.totals import EXACT_UP_TO, Total, estimated_total, fetch_large_total, fetch_total

# A filtered list with at most this many tokens is sorted without a scan in sort order, which may pass all other tokens.
_FEW = 1_000
# The share of SEARCH_TIMEOUT_MS that a timed scan may take, 0.25 s by default. A slower scan skips too many rows that
# do not match.
_TIMED_SCAN_PART = 1 / 6


class PageSource(Enum):
    """Statement that returns a list's page."""

    # Along the sort's index, without a time limit.
    SCAN = auto()
    # The same scan with a time limit. If it exceeds the limit, all matches are sorted.
    TIMED_SCAN = auto()
    # All matches from the index of their conditions, sorted: their number is the total. If there are more than the
    # plan's limit, the total is estimated and a timed scan returns the page.
    MATCHES = auto()


@dataclass(frozen=True)
class ListPlan:
    """Source of a list's page, and the total if it precedes the page."""

    source: PageSource
    total: Total | None = None
    # None is no limit.
    match_limit: int | None = None
    # Tokens that precede all other matches.
    exact_ids: Sequence[int] = ()


class SearchTimeoutError(Exception):
    """Raised if a search or a filtered list exceeds SEARCH_TIMEOUT_MS."""


def plan_list(selection: Selection, limit: int) -> ListPlan:
    """Return the plan for a list with pages of `limit` tokens. Fetches the total if the plan depends on it."""
    if not selection.has_filters:
        # The tokens of a user, a wallet or a chain have their own index: the page does not depend on the total.
        plan = ListPlan(PageSource.SCAN)
    elif not selection.q:
        total = fetch_total(selection)
        if limit == 0:
            # A page without tokens takes no statement.
            plan = ListPlan(PageSource.SCAN, total)
        elif total.is_exact and total.number <= _FEW:
            # A scan may pass all other tokens, and sorting so few is fast.
            plan = ListPlan(PageSource.MATCHES)
        else:
            # A scan usually fills a page quickly.
            plan = ListPlan(PageSource.TIMED_SCAN, total)
    elif exact_ids := _exact_match_ids(selection):
        # These tokens precede all other matches, which a scan in sort order can't do.
        plan = ListPlan(PageSource.MATCHES, exact_ids=exact_ids)
    elif large_total := fetch_large_total(selection):
        # Sorting so many matches takes too long, and a scan usually fills a page quickly.
        plan = ListPlan(PageSource.TIMED_SCAN, large_total)
    else:
        # No estimate of few matches is reliable. One statement counts them up to the limit, and returns the page.
        plan = ListPlan(PageSource.MATCHES, match_limit=EXACT_UP_TO)
    return plan


def fetch_list(
    selection: Selection, list_sort: ListSort, page_request: PageRequest, extras: Extras = NO_EXTRAS
) -> tuple[TokenPage, Total | None]:
    """Return a list's page and its total, None if the page does not depend on it. Raises SearchTimeoutError."""
    request = (selection, list_sort, page_request)
    with _time_limit() as deadline:
        plan = plan_list(selection, page_request.limit)
        if plan.source is PageSource.SCAN:
            return listing.fetch_page(*request, extras), plan.total
        matches = None
        if plan.source is PageSource.MATCHES:
            matches = listing.fetch_matches(
                *request, exact_ids=plan.exact_ids, limit=plan.match_limit, deadline=deadline
            )
        if matches is None or not matches.is_complete:
            total = plan.total or estimated_total(selection)
            scan_deadline = time.monotonic() + _TIMED_SCAN_PART * settings.SEARCH_TIMEOUT_MS / 1000
            with suppress(StatementTimeoutError):
                return listing.fetch_page_before(*request, extras, deadline=min(deadline, scan_deadline)), total
            matches = listing.fetch_matches(*request, deadline=deadline)
        return listing.build_matching_page(matches, list_sort, page_request, extras), Total(matches.number)


def first_ids(tokens: QuerySet[Any], number: int) -> list[int]:
    """Return the first rows' primary keys, for tokens or their entries. Raises SearchTimeoutError."""
    statement = CompiledQuery.of(tokens.values_list("pk")[:number])
    with _time_limit() as deadline:
        return [row_id for (row_id,) in fetch_before_deadline(statement.sql, statement.parameters, deadline=deadline)]


@contextmanager
def _time_limit() -> Iterator[float]:
    """Yield the monotonic time at which a search's or list's statements must end."""
    try:
        yield time.monotonic() + settings.SEARCH_TIMEOUT_MS / 1000
    except StatementTimeoutError as error:
        raise SearchTimeoutError from error


def _exact_match_ids(selection: Selection) -> list[int]:
    """Return the ids for tokens whose address or hash is the search text."""
    exact = text_search.exact_match(selection.q)
    return [] if exact is None else list(selection.without_search().tokens().filter(exact).values_list("pk", flat=True))
