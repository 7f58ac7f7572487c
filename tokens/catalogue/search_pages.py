"""Pages for text searches and filtered lists.

The number of matches is unknown before the search, and a scan in sort order that relied on a wrong estimate could read
the whole table for ten rows. Therefore matches are first read from the text index, up to the limit for exact totals. If
that returns all matches, they are sorted, which yields page and total. Otherwise matches are so frequent that a sort
index scan usually fills a page quickly. If it exceeds its time limit, all matches are read and sorted. A filtered list
without a search is counted first: few tokens are read by its filters' indexes and sorted, others by a scan.
"""

import functools
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, Expression, F, Q, QuerySet, Value

from config.cursors import Cursor, LegacyCursor
from config.postgresql.compiled_queries import CompiledQuery, QueryParameter
from config.postgresql.timeouts import StatementTimeoutError, fetch_before_deadline
from tokens.catalogue import text_search
from tokens.catalogue.listing import ListSort, PageRequest, TokenPage, build_page, cursor_values, page_statement
from tokens.catalogue.records import NO_EXTRAS, Extras, Record, build_records
from tokens.catalogue.selections import Selection
from tokens.catalogue.totals import (
    EXACT_UP_TO,
    Total,
    estimated_total,
    estimated_total_if_large,
    fetch_total,
    stored_total,
)
from tokens.models import Token
from tokens.models.expressions import EqualsAny

# SQL for matches with their sort key, by whether the key is a Market column.
_KEYS = {
    False: "SELECT id, deployed_at, is_exact FROM found",
    True: (
        "SELECT found.id, COALESCE(market.{}, %s), found.is_exact"
        " FROM found JOIN tokens_market AS market ON market.token_id = found.id"
    ),
}
# A filtered list with at most this many tokens is sorted without a scan in sort order, which may pass all other tokens.
_FEW = 1_000
_IDS = ArrayField(BigIntegerField())
# The share of SEARCH_TIMEOUT_MS that a scan in sort order may take, 0.25 s by default. A slower scan skips too many
# rows that do not match.
_SORTED_SCAN_PART = 1 / 6
# Forces the text index. The planner prefers a sequential scan that stops at the limit, which is fast if matches are
# spread evenly and reads the whole table if they are not. The match bitmap fits into this work_mem.
_INDEX_SCAN_SETTINGS = "SET LOCAL enable_seqscan = off; SET LOCAL work_mem = '64MB'; "
_INDEX_SCAN_SETTING_COUNT = 2


@dataclass(frozen=True)
class _MatchPage:
    """The number of matches, and (id, sort key, is an exact match) for each match on the page and the next match."""

    number: int
    rows: Sequence[tuple[Any, ...]]


class SearchTimeoutError(Exception):
    """Raised if a search or a filtered list exceeds SEARCH_TIMEOUT_MS."""


def search_page(
    selection: Selection, list_sort: ListSort, page_request: PageRequest, extras: Extras = NO_EXTRAS
) -> tuple[TokenPage, Total]:
    """Return a search's page and the number of matching tokens. Raises SearchTimeoutError."""
    with _deadline() as deadline:
        return _search(selection, list_sort, page_request, extras, deadline=deadline)


def filtered_page(
    selection: Selection, list_sort: ListSort, page_request: PageRequest, extras: Extras = NO_EXTRAS
) -> tuple[TokenPage, Total]:
    """Return the page and the total for a list with filters and without a search. Raises SearchTimeoutError."""
    with _deadline() as deadline:
        total = fetch_total(selection)
        if page_request.limit == 0:
            return TokenPage([], None), total
        if not total.is_exact or total.number > _FEW:
            with suppress(StatementTimeoutError):
                return _fetch_page_by_sort(selection, list_sort, page_request, extras, deadline=deadline), total
        matches = _fetch_matches(selection, list_sort, page_request, exact_ids=[], limit=None, deadline=deadline)
        return _build_page(matches, list_sort, page_request, extras), Total(matches.number)


def first_ids(tokens: QuerySet[Any], number: int) -> list[int]:
    """Return the first rows' primary keys, for tokens or their entries. Raises SearchTimeoutError."""
    statement = CompiledQuery.of(tokens.values_list("pk")[:number])
    with _deadline() as deadline:
        return [row_id for (row_id,) in fetch_before_deadline(statement.sql, statement.parameters, deadline=deadline)]


@contextmanager
def _deadline() -> Iterator[float]:
    """Yield the monotonic time at which a search's or list's statements must end."""
    try:
        yield time.monotonic() + settings.SEARCH_TIMEOUT_MS / 1000
    except StatementTimeoutError as error:
        raise SearchTimeoutError from error


def _search(
    selection: Selection, list_sort: ListSort, page_request: PageRequest, extras: Extras, *, deadline: float
) -> tuple[TokenPage, Total]:
    exact_ids = _exact_match_ids(selection)
    # Exact matches come first, which a scan in sort order can't do.
    total = None if exact_ids else stored_total(selection) or estimated_total_if_large(selection)
    if total is None:
        limit = None if exact_ids else EXACT_UP_TO
        matches = _fetch_matches(
            selection, list_sort, page_request, exact_ids=exact_ids, limit=limit, deadline=deadline
        )
        if limit is None or matches.number <= limit:
            return _build_page(matches, list_sort, page_request, extras), Total(matches.number)
        total = estimated_total(selection)
    try:
        return _fetch_page_by_sort(selection, list_sort, page_request, extras, deadline=deadline), total
    except StatementTimeoutError:
        matches = _fetch_matches(selection, list_sort, page_request, exact_ids=exact_ids, limit=None, deadline=deadline)
        return _build_page(matches, list_sort, page_request, extras), Total(matches.number)


def _exact_match_ids(selection: Selection) -> list[int]:
    """Return the ids for tokens whose address or hash is the search text."""
    exact = text_search.exact_match(selection.q)
    return [] if exact is None else list(selection.without_search().tokens().filter(exact).values_list("pk", flat=True))


def _fetch_page_by_sort(
    selection: Selection, list_sort: ListSort, page_request: PageRequest, extras: Extras, *, deadline: float
) -> TokenPage:
    statement = page_statement(selection, list_sort, page_request.statement_key, extras)
    parameters = statement.bind(**cursor_values(list_sort, page_request.cursor))
    scan_deadline = time.monotonic() + _SORTED_SCAN_PART * settings.SEARCH_TIMEOUT_MS / 1000
    rows = fetch_before_deadline(statement.sql, parameters, deadline=min(deadline, scan_deadline))
    return build_page(rows, list_sort, page_request, extras)


def _fetch_matches(
    selection: Selection,
    list_sort: ListSort,
    page_request: PageRequest,
    *,
    exact_ids: list[int],
    limit: int | None,
    deadline: float,
) -> _MatchPage:
    """Fetch all matches, or one more than `limit`, and return the requested page in sort order."""
    sort = list_sort.sort
    statement = _match_statement(selection, bool(exact_ids))
    after, cursor_parameters = _after_cursor(list_sort, page_request.cursor)
    direction = "DESC" if list_sort.descending else "ASC"
    # The subquery hides the limit from the planner, which would otherwise choose a plan that stops early.
    limit_clause = "" if limit is None else f"LIMIT (SELECT {limit + 1})"
    sql = f"""
        WITH found (id, deployed_at, is_exact) AS MATERIALIZED ({statement.sql} {limit_clause}),
        matches (id, sort_key, is_exact) AS MATERIALIZED ({_KEYS[sort.by_market].format(sort.column)})
        SELECT counted.number, page.id, page.sort_key, page.is_exact
        FROM (SELECT count(*) AS number FROM matches) AS counted
        LEFT JOIN (
            SELECT * FROM matches WHERE {after}
            ORDER BY is_exact DESC, sort_key {direction}, id {direction}
            LIMIT {page_request.limit + 1} OFFSET {page_request.offset}
        ) AS page ON TRUE
        ORDER BY page.is_exact DESC, page.sort_key {direction}, page.id {direction}
    """
    unknown = (list_sort.unknown_key,) if sort.by_market else ()
    parameters = (*statement.bind(exact_ids=exact_ids), *unknown, *cursor_parameters)
    rows = fetch_before_deadline(
        _INDEX_SCAN_SETTINGS + sql, parameters, deadline=deadline, preceding_results=_INDEX_SCAN_SETTING_COUNT
    )
    return _MatchPage(rows[0][0], [row[1:] for row in rows if row[1] is not None])


@functools.lru_cache(maxsize=1024)
def _match_statement(selection: Selection, has_exact: bool) -> CompiledQuery:
    if not selection.q:
        tokens = selection.tokens().annotate(is_exact=Value(False))
        return CompiledQuery.of(tokens.values_list("pk", "deployed_at", "is_exact"))
    match = text_search.indexed_entry_match(selection.q)
    is_exact: Expression = Value(False)
    if has_exact:
        is_exact = EqualsAny(F("token_id"), QueryParameter("exact_ids", _IDS))
        match |= Q(is_exact)
    entries = selection.entries(match).annotate(is_exact=is_exact)
    return CompiledQuery.of(entries.values_list("token_id", "deployed_at", "is_exact"))


def _after_cursor(list_sort: ListSort, cursor: Cursor | LegacyCursor | None) -> tuple[str, tuple[Any, ...]]:
    """Return the SQL condition for matches after the cursor, with its parameters; exact matches come first."""
    if cursor is None:
        return "TRUE", ()
    values = cursor_values(list_sort, cursor)
    if isinstance(cursor, LegacyCursor):
        return f"NOT is_exact AND sort_key {'<' if list_sort.descending else '>='} %s", (values["value"],)
    after = f"(sort_key, id) {'<' if list_sort.descending else '>'} (%s, %s)"
    condition = f"(NOT is_exact OR {after})" if cursor.exact else f"NOT is_exact AND {after}"
    return condition, (values["value"], values["row_id"])


def _build_page(matches: _MatchPage, list_sort: ListSort, page_request: PageRequest, extras: Extras) -> TokenPage:
    page_rows = matches.rows[: page_request.limit]
    records = _fetch_records([row_id for row_id, _, _ in page_rows], extras)
    if not page_rows or len(matches.rows) <= page_request.limit:
        return TokenPage(records, None)
    row_id, key, is_exact = page_rows[-1]
    return TokenPage(records, list_sort.build_cursor(key, row_id, exact=is_exact))


def _fetch_records(ids: Sequence[int], extras: Extras) -> list[Record]:
    if not ids:
        return []
    rows = {row[0]: row for row in _by_id_statement(extras).fetch(ids=list(ids))}
    return build_records([rows[row_id] for row_id in ids if row_id in rows], extras)


@functools.lru_cache
def _by_id_statement(extras: Extras) -> CompiledQuery:
    by_ids = Q(EqualsAny(F("id"), QueryParameter("ids", _IDS)))
    return CompiledQuery.of(Token.objects.filter(by_ids).with_record_facts().values_list(*extras.columns))
