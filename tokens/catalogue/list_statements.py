"""Statements for token lists, each compiled on first use: compiling takes longer than the query itself.

A scan reads the sort's index from the previous page's last row. Its cost does not depend on depth or on the number of
tokens, provided that a fair share of them is in the list. Otherwise all matches are read from the index of their
conditions and sorted. `list_plan` chooses between the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, DateTimeField, F, FloatField, Q, Value
from django.db.models.fields.tuple_lookups import TupleGreaterThan, TupleLessThan
from django.utils.functional import cached_property

from config.cursors import Cursor, LegacyCursor
from config.postgresql.compiled_queries import CompiledQuery, QueryParameter
from tokens.catalogue import text_search
from tokens.catalogue.listing import ListSort, PageRequest
from tokens.catalogue.records import Extras
from tokens.catalogue.selections import Selection
from tokens.models import Token
from tokens.models.expressions import EqualsAny
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


@dataclass(frozen=True)
class ListStatements:
    """A selection's statements. Equal selections share them."""

    selection: Selection

    @classmethod
    @lru_cache(maxsize=1024)
    def of(cls, selection: Selection) -> "ListStatements":
        """Return a selection's statements, some of which may be compiled."""
        return cls(selection)

    @cached_property
    def ids(self) -> CompiledQuery:
        """Return the statement for all ids, by conditions for which the planner has statistics."""
        q = self.selection.q
        rows = self.selection.entries().filter(text_search.entry_match(q)) if q else self.selection.tokens()
        return CompiledQuery.of(rows.values_list("pk"))

    @cached_property
    def exact_ids(self) -> CompiledQuery | None:
        """Return the statement for tokens whose address or hash is the search text; None if the text is neither."""
        exact = text_search.exact_match(self.selection.q)
        if exact is None:
            return None
        return CompiledQuery.of(self.selection.without_search().tokens().filter(exact).values_list("pk"))

    def page(self, list_sort: ListSort, page_request: PageRequest, extras: Extras) -> CompiledQuery:
        """Return the statement for a page's records along the sort's index; the sort key is its last column."""
        statement = _page_statement(self.selection, list_sort, page_request.statement_key, extras)
        return CompiledQuery(statement.sql, statement.bind(**_cursor_values(list_sort, page_request.cursor)))

    def sorted_matches(
        self, list_sort: ListSort, page_request: PageRequest, *, exact_ids: Sequence[int], limit: int | None
    ) -> CompiledQuery:
        """Return the statement for the number of matches, and the page in sort order, by the conditions' index.

        With a limit, one more match than that is read. A row has the number; and id, sort key and whether the id is in
        `exact_ids`, for each match on the page and the next match. Exact matches come first.
        """
        sort = list_sort.sort
        statement = self._exact_and_other_matches if exact_ids else self._matches
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
        return CompiledQuery(sql, (*statement.bind(exact_ids=list(exact_ids)), *unknown, *cursor_parameters))

    @cached_property
    def _matches(self) -> CompiledQuery:
        if not self.selection.q:
            tokens = self.selection.tokens().annotate(is_exact=Value(False))
            return CompiledQuery.of(tokens.values_list("pk", "deployed_at", "is_exact"))
        entries = self.selection.entries().filter(text_search.indexed_entry_match(self.selection.q))
        return CompiledQuery.of(entries.annotate(is_exact=Value(False)).values_list("pk", "deployed_at", "is_exact"))

    @cached_property
    def _exact_and_other_matches(self) -> CompiledQuery:
        is_exact = EqualsAny(F("token_id"), QueryParameter("exact_ids", _IDS))
        rows = self.selection.entries().filter(text_search.indexed_entry_match(self.selection.q) | Q(is_exact))
        return CompiledQuery.of(rows.annotate(is_exact=is_exact).values_list("pk", "deployed_at", "is_exact"))


@lru_cache(maxsize=2048)
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


@lru_cache
def records_statement(extras: Extras) -> CompiledQuery:
    """Return the statement for records by `ids`."""
    by_ids = Q(EqualsAny(F("id"), QueryParameter("ids", _IDS)))
    return CompiledQuery.of(Token.objects.filter(by_ids).with_record_facts().values_list(*extras.columns))
