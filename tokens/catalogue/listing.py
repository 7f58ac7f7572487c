"""Pages of token lists.

A page is a walk along the index of its sort, from the place where the page before ended: it costs the same at any depth
and for any number of tokens, as long as a fair share of them is in the list. `tokens.catalogue.search_pages` has the other way, for
searches that find few.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, DateTimeField, F, FloatField
from django.db.models.fields.tuple_lookups import TupleGreaterThan, TupleLessThan

from config.api.cursors import Cursor, OlderCursor, decode, encode
from config.postgresql.compiled_queries import Slot, Statement
from tokens.catalogue.records import NOTHING_ELSE, Extras, Record, write_records
from tokens.catalogue.selections import Selection
from tokens.models.querysets import TokenQuerySet
from tokens.models.sorts import DEPLOYED_AT, Sort


@dataclass(frozen=True)
class Order:
    """In which order a list is walked."""

    sort: Sort = DEPLOYED_AT
    descending: bool = True

    def read_cursor(self, text: str | None) -> Cursor | OlderCursor | None:
        """Where a page begins; None is the first page. Raises ValidationError (400) on `cursor`."""
        if not text:
            return None
        sort = self.sort
        return decode(text, sort_by=sort.name, descending=self.descending, numeric=sort.by_market, whole=sort.is_whole)

    def write_cursor(self, key: Any, row_id: int, *, exact: bool = False) -> str:
        """The cursor after the row with this key and id."""
        value = None if self.sort.by_market and key == self.unknown else key
        cursor = Cursor(value, row_id, exact)
        return encode(cursor, sort_by=self.sort.name, descending=self.descending)

    @property
    def unknown(self) -> float | int:
        """The key of a token whose value is unknown."""
        return self.sort.stand_in(descending=self.descending)


@dataclass(frozen=True)
class Window:
    """Which rows of a list are wanted: so many after the cursor, and after `offset` more."""

    limit: int
    offset: int = 0
    cursor: Cursor | OlderCursor | None = None

    @property
    def shape(self) -> tuple[int, int, str | None]:
        """What of it is part of a statement's text; the cursor's values are not."""
        return self.limit, self.offset, type(self.cursor).__name__ if self.cursor else None


@dataclass(frozen=True)
class Page:
    """Records, and the cursor of the next page; None on the last."""

    records: list[Record]
    cursor: str | None


def walk(selection: Selection, order: Order, window: Window, extras: Extras = NOTHING_ELSE) -> Page:
    """The page of a list: one query along the sort's index, and one for users where these are wanted."""
    if window.limit == 0:
        return Page([], None)
    statement = walk_statement(selection, order, window.shape, extras)
    values = slot_values(order, window.cursor)
    # By date and without filters every page has the same plan, a place in an index. With filters the plan depends on
    # their values, and by market on what stands in for the unknown, which is part of the index.
    has_one_plan = not selection.values and not order.sort.by_market
    rows = statement.fetch_prepared(**values) if has_one_plan else statement.fetch(**values)
    return page_of_rows(rows, order, window, extras)


def page_of_rows(rows: Sequence[tuple[Any, ...]], order: Order, window: Window, extras: Extras) -> Page:
    """The page in rows of a `walk_statement`."""
    shown = rows[: window.limit]
    records = write_records(shown, extras)
    # One row more than asked for tells whether there is another page.
    if not shown or len(rows) <= window.limit:
        return Page(records, None)
    return Page(records, order.write_cursor(shown[-1][-1], shown[-1][0]))


@functools.lru_cache(maxsize=2048)
def walk_statement(selection: Selection, order: Order, shape: tuple[int, int, str | None], extras: Extras) -> Statement:
    """The query of a page of a window's shape, with slots for the cursor; the sort's key is its last column."""
    limit, offset, cursor = shape
    tokens = sorted_tokens(selection.tokens().with_copies(), order)
    if cursor:
        tokens = _after(tokens, order, cursor)
    direction = "-" if order.descending else ""
    tokens = tokens.order_by(f"{direction}sort_key", f"{direction}sort_id")
    return Statement.of(tokens.values_list(*extras.columns, "sort_key")[offset : offset + limit + 1])


def sorted_tokens(tokens: TokenQuerySet, order: Order) -> TokenQuerySet:
    """Tokens with `sort_key` and `sort_id`, the two columns of the sort's index."""
    if not order.sort.by_market:
        return tokens.annotate(sort_key=F(order.sort.column)).alias(sort_id=F("id"))
    # Every token has a market; that it is asked for here makes the join an inner one, which can begin at the market.
    key = order.sort.key(descending=order.descending, prefix="market__")
    return tokens.filter(market__isnull=False).annotate(sort_key=key).alias(sort_id=F("market__token_id"))


def slot_values(order: Order, cursor: Cursor | OlderCursor | None) -> dict[str, Any]:
    """What the slots of a statement stand for."""
    if cursor is None:
        return {}
    if isinstance(cursor, OlderCursor):
        return {"value": cursor.end if order.descending else cursor.second}
    return {"value": order.unknown if cursor.value is None else cursor.value, "row_id": cursor.row_id}


def _after(tokens: TokenQuerySet, order: Order, cursor: str) -> TokenQuerySet:
    value = Slot("value", FloatField() if order.sort.by_market else DateTimeField())
    if cursor == OlderCursor.__name__:
        return tokens.filter(**{"sort_key__lt" if order.descending else "sort_key__gte": value})
    # A row comparison, which PostgreSQL answers from the index on both columns; the form with OR reads all rows before.
    beyond = TupleLessThan if order.descending else TupleGreaterThan
    return tokens.filter(beyond((F("sort_key"), F("sort_id")), (value, Slot("row_id", BigIntegerField()))))
