"""Keyset pagination over token lists.

A page scans the sort's index from the previous page's last row. Its cost does not depend on depth or on the number of
tokens, provided that a fair share of them is in the list. `search_pages` covers searches with few matches.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, DateTimeField, F, FloatField
from django.db.models.fields.tuple_lookups import TupleGreaterThan, TupleLessThan

from config.cursors import Cursor, LegacyCursor, decode_cursor, encode_cursor
from config.postgresql.compiled_queries import CompiledQuery, QueryParameter
from tokens.catalogue.records import NO_EXTRAS, Extras, Record, build_records
from tokens.catalogue.selections import Selection
from tokens.models.sorts import DEPLOYED_AT, Sort
from tokens.models.token import TokenQuerySet


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

    records: list[Record]
    cursor: str | None


def fetch_page(
    selection: Selection, list_sort: ListSort, page_request: PageRequest, extras: Extras = NO_EXTRAS
) -> TokenPage:
    """Fetch a page: one query by the sort's index, and one for users if these are requested."""
    if page_request.limit == 0:
        return TokenPage([], None)
    statement = page_statement(selection, list_sort, page_request.statement_key, extras)
    values = cursor_values(list_sort, page_request.cursor)
    # Without filters and by date, every page has the same plan, so a prepared statement is safe. With filters, the plan
    # depends on their values. By market, it depends on the substitute for unknown values, which the index contains.
    has_one_plan = selection == Selection() and not list_sort.sort.by_market
    rows = statement.fetch_prepared(**values) if has_one_plan else statement.fetch(**values)
    return build_page(rows, list_sort, page_request, extras)


def build_page(
    rows: Sequence[tuple[Any, ...]], list_sort: ListSort, page_request: PageRequest, extras: Extras
) -> TokenPage:
    """Return the page from the rows that a `page_statement` returned."""
    page_rows = rows[: page_request.limit]
    records = build_records(page_rows, extras)
    # One row above the limit is fetched to detect another page.
    if not page_rows or len(rows) <= page_request.limit:
        return TokenPage(records, None)
    return TokenPage(records, list_sort.build_cursor(page_rows[-1][-1], page_rows[-1][0]))


@functools.lru_cache(maxsize=2048)
def page_statement(
    selection: Selection, list_sort: ListSort, statement_key: tuple[int, int, str | None], extras: Extras
) -> CompiledQuery:
    """Return a page's query, with slots for the cursor; the sort key is its last column."""
    limit, offset, cursor = statement_key
    tokens = with_sort_key(selection.tokens().with_record_facts(), list_sort)
    least = None if list_sort.descending else selection.least_of(list_sort.sort.column)
    if least is not None:
        # A walk along the ascending index begins there, and ends before the unknown values.
        tokens = tokens.filter(**{"sort_key__gte": least, "sort_key__lt": list_sort.unknown_key})
    if cursor:
        tokens = _after(tokens, list_sort, cursor)
    direction = "-" if list_sort.descending else ""
    tokens = tokens.order_by(f"{direction}sort_key", f"{direction}sort_id")
    return CompiledQuery.of(tokens.values_list(*extras.columns, "sort_key")[offset : offset + limit + 1])


def with_sort_key(tokens: TokenQuerySet, list_sort: ListSort) -> TokenQuerySet:
    """Annotate tokens with `sort_key` and `sort_id`, the two columns of the sort's index."""
    if not list_sort.sort.by_market:
        return tokens.annotate(sort_key=F(list_sort.sort.column)).alias(sort_id=F("id"))
    # Every token has a market. The filter makes the join an inner join, which can start from the market's index.
    key = list_sort.sort.key(descending=list_sort.descending, prefix="market__")
    return tokens.filter(market__isnull=False).annotate(sort_key=key).alias(sort_id=F("market__token_id"))


def cursor_values(list_sort: ListSort, cursor: Cursor | LegacyCursor | None) -> dict[str, Any]:
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
