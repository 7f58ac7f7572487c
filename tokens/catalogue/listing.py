"""Keyset pagination over token lists, by a scan or by all matches.

A scan reads the sort's index from the previous page's last row. Its cost does not depend on depth or on the number of
tokens, provided that a fair share of them is in the list. Otherwise all matches are read from the index of their
conditions and sorted. `list_plan` chooses between the two.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, DateTimeField, Expression, F, FloatField, Q, Value
from django.db.models.fields.tuple_lookups import TupleGreaterThan, TupleLessThan

from config.cursors import Cursor, LegacyCursor, decode_cursor, encode_cursor
from config.postgresql.compiled_queries import CompiledQuery, QueryParameter
from config.postgresql.timeouts import fetch_before_deadline
from tokens.catalogue import text_search
from tokens.catalogue.records import NO_EXTRAS, Extras, build_records
from tokens.catalogue.responses import TokenRecord
from tokens.catalogue.selections import Selection
from tokens.models import Token
from tokens.models.expressions import EqualsAny
from tokens.models.sorts import DEPLOYED_AT, Sort
from tokens.models.token import TokenQuerySet

# SQL for matches with their sort key, by whether the key is a Market column.
_KEYS = {
    False: "SELECT id, deployed_at, is_exact FROM found",
    True: (
        "SELECT found.id, COALESCE(market.{}, %s), found.is_exact"
        " FROM found JOIN tokens_market AS market ON market.token_id = found.id"
    ),
}
_IDS = ArrayField(BigIntegerField())
# Forces the text index. The planner prefers a sequential scan that stops at the limit, which is fast if matches are
# spread evenly and reads the whole table if they are not. The match bitmap fits into this work_mem.
_INDEX_SCAN_SETTINGS = "SET LOCAL enable_seqscan = off; SET LOCAL work_mem = '64MB'; "
_INDEX_SCAN_SETTING_COUNT = 2


@dataclass(frozen=True)
class ListSort:
    """A list's sort and direction."""

    sort: Sort = DEPLOYED_AT
    descending: bool = True

    def parse_cursor(self, text: str | None) -> Cursor | LegacyCursor | None:
        """Return the position before a page; None is the first page. Raises CursorError."""
        if not text:
            return None
        sort = self.sort
        return decode_cursor(
            text, sort_by=sort.name, descending=self.descending, numeric=sort.by_market, whole=sort.is_integer
        )

    def build_cursor(self, key: Any, row_id: int, *, exact: bool = False) -> str:
        """Return the cursor that follows the row with this sort key and id."""
        value = None if self.sort.by_market and key == self.unknown_key else key
        cursor = Cursor(value, row_id, exact)
        return encode_cursor(cursor, sort_by=self.sort.name, descending=self.descending)

    @property
    def unknown_key(self) -> float | int:
        """Return the sort key for tokens without a value."""
        return self.sort.unknown_key(descending=self.descending)


@dataclass(frozen=True)
class PageRequest:
    """A page's limit, offset and cursor; the offset counts from the cursor."""

    limit: int
    offset: int = 0
    cursor: Cursor | LegacyCursor | None = None

    @property
    def statement_key(self) -> tuple[int, int, str | None]:
        """Return the values that determine a statement's text; the cursor's values are parameters."""
        return self.limit, self.offset, type(self.cursor).__name__ if self.cursor else None


@dataclass(frozen=True)
class TokenPage:
    """A page's records, and the next page's cursor; None on the last page."""

    records: list[TokenRecord]
    cursor: str | None


@dataclass(frozen=True)
class Matches:
    """The number of matches, and (id, sort key, is an exact match) for each match on the page and the next match."""

    number: int
    # Whether `number` counts all matches: the limit was not reached.
    is_complete: bool
    rows: Sequence[tuple[Any, ...]]


def fetch_page(
    selection: Selection, list_sort: ListSort, page_request: PageRequest, extras: Extras = NO_EXTRAS
) -> TokenPage:
    """Fetch a page: one query by the sort's index, and one for users if these are requested."""
    if page_request.limit == 0:
        return TokenPage([], None)
    statement = _page_statement(selection, list_sort, page_request.statement_key, extras)
    values = _cursor_values(list_sort, page_request.cursor)
    # Without filters and by date, every page has the same plan, so a prepared statement is safe. With filters, the plan
    # depends on their values. By market, it depends on the substitute for unknown values, which the index contains.
    has_one_plan = selection == Selection() and not list_sort.sort.by_market
    rows = statement.fetch_prepared(**values) if has_one_plan else statement.fetch(**values)
    return _build_page(rows, list_sort, page_request, extras)


def fetch_page_before(
    selection: Selection, list_sort: ListSort, page_request: PageRequest, extras: Extras, *, deadline: float
) -> TokenPage:
    """Fetch the same page before the deadline (monotonic clock). Raises StatementTimeoutError."""
    statement = _page_statement(selection, list_sort, page_request.statement_key, extras)
    parameters = statement.bind(**_cursor_values(list_sort, page_request.cursor))
    rows = fetch_before_deadline(statement.sql, parameters, deadline=deadline)
    return _build_page(rows, list_sort, page_request, extras)


def fetch_matches(
    selection: Selection,
    list_sort: ListSort,
    page_request: PageRequest,
    *,
    exact_ids: Sequence[int] = (),
    limit: int | None = None,
    deadline: float,
) -> Matches:
    """Fetch all matches, or one more than `limit`, and return the requested page in sort order.

    The matches with `exact_ids` come first. Raises StatementTimeoutError.
    """
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
    parameters = (*statement.bind(exact_ids=list(exact_ids)), *unknown, *cursor_parameters)
    rows = fetch_before_deadline(
        _INDEX_SCAN_SETTINGS + sql, parameters, deadline=deadline, preceding_results=_INDEX_SCAN_SETTING_COUNT
    )
    number = rows[0][0]
    is_complete = limit is None or number <= limit
    return Matches(number, is_complete, [row[1:] for row in rows if row[1] is not None])


def build_matching_page(matches: Matches, list_sort: ListSort, page_request: PageRequest, extras: Extras) -> TokenPage:
    """Fetch the records for a page's matches and return the page."""
    limit = page_request.limit
    ids = [row_id for row_id, _, _ in matches.rows[:limit]]
    rows = {row[0]: row for row in _by_id_statement(extras).fetch(ids=ids)} if ids else {}
    records = build_records([rows[row_id] for row_id in ids if row_id in rows], extras)
    cursor = None
    if 0 < limit < len(matches.rows):
        row_id, key, is_exact = matches.rows[limit - 1]
        cursor = list_sort.build_cursor(key, row_id, exact=is_exact)
    return TokenPage(records, cursor)


def _build_page(
    rows: Sequence[tuple[Any, ...]], list_sort: ListSort, page_request: PageRequest, extras: Extras
) -> TokenPage:
    """Return the page from the rows that a `_page_statement` returned."""
    limit = page_request.limit
    # One row above the limit is fetched to detect another page.
    cursor = list_sort.build_cursor(rows[limit - 1][-1], rows[limit - 1][0]) if 0 < limit < len(rows) else None
    return TokenPage(build_records(rows[:limit], extras), cursor)


@functools.lru_cache(maxsize=2048)
def _page_statement(
    selection: Selection, list_sort: ListSort, statement_key: tuple[int, int, str | None], extras: Extras
) -> CompiledQuery:
    """Return a page's query, with slots for the cursor; the sort key is its last column."""
    limit, offset, cursor = statement_key
    tokens = _with_sort_key(selection.tokens().with_record_facts(), list_sort)
    least = None if list_sort.descending else selection.least_of(list_sort.sort.column)
    if least is not None:
        # A walk along the ascending index begins there, and ends before the unknown values.
        tokens = tokens.filter(**{"sort_key__gte": least, "sort_key__lt": list_sort.unknown_key})
    if cursor:
        tokens = _after(tokens, list_sort, cursor)
    direction = "-" if list_sort.descending else ""
    tokens = tokens.order_by(f"{direction}sort_key", f"{direction}sort_id")
    return CompiledQuery.of(tokens.values_list(*extras.columns, "sort_key")[offset : offset + limit + 1])


def _with_sort_key(tokens: TokenQuerySet, list_sort: ListSort) -> TokenQuerySet:
    """Annotate tokens with `sort_key` and `sort_id`, the two columns of the sort's index."""
    if not list_sort.sort.by_market:
        return tokens.annotate(sort_key=F(list_sort.sort.column)).alias(sort_id=F("id"))
    # Every token has a market. The filter makes the join an inner join, which can start from the market's index.
    key = list_sort.sort.key(descending=list_sort.descending, prefix="market__")
    return tokens.filter(market__isnull=False).annotate(sort_key=key).alias(sort_id=F("market__token_id"))


def _cursor_values(list_sort: ListSort, cursor: Cursor | LegacyCursor | None) -> dict[str, Any]:
    """Return the values for a statement's slots."""
    if cursor is None:
        return {}
    if isinstance(cursor, LegacyCursor):
        return {"value": cursor.end if list_sort.descending else cursor.second}
    return {"value": list_sort.unknown_key if cursor.value is None else cursor.value, "row_id": cursor.row_id}


def _after(tokens: TokenQuerySet, list_sort: ListSort, cursor: str) -> TokenQuerySet:
    value = QueryParameter("value", FloatField() if list_sort.sort.by_market else DateTimeField())
    if cursor == LegacyCursor.__name__:
        return tokens.filter(**{"sort_key__lt" if list_sort.descending else "sort_key__gte": value})
    # PostgreSQL uses the index on both columns for a row comparison; the form with OR reads all preceding rows.
    condition = TupleLessThan if list_sort.descending else TupleGreaterThan
    return tokens.filter(condition((F("sort_key"), F("sort_id")), (value, QueryParameter("row_id", BigIntegerField()))))


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
    values = _cursor_values(list_sort, cursor)
    if isinstance(cursor, LegacyCursor):
        return f"NOT is_exact AND sort_key {'<' if list_sort.descending else '>='} %s", (values["value"],)
    after = f"(sort_key, id) {'<' if list_sort.descending else '>'} (%s, %s)"
    condition = f"(NOT is_exact OR {after})" if cursor.exact else f"NOT is_exact AND {after}"
    return condition, (values["value"], values["row_id"])


@functools.lru_cache
def _by_id_statement(extras: Extras) -> CompiledQuery:
    by_ids = Q(EqualsAny(F("id"), QueryParameter("ids", _IDS)))
    return CompiledQuery.of(Token.objects.filter(by_ids).with_record_facts().values_list(*extras.columns))
