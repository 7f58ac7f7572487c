"""Pages of searches.

How many tokens a text finds is not known before it is looked for, and a walk that trusted a wrong estimate would read
the whole table for ten rows. So the matches are taken from their index first, up to the limit within which totals are
exact: if that is all of them, they are sorted, and page and total are there at once. If not, they are so frequent that
a walk along the sort's index finds a page soon; where they all lie far behind, it is given up, and they are sorted.
"""

import functools
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import OperationalError, connection
from django.db.models import BigIntegerField, BooleanField, Expression, F, Func, Q, Value
from psycopg.errors import QueryCanceled

from config.api.cursors import Cursor, OlderCursor
from config.api.errors import SearchTimedOut
from config.postgresql.compiled_queries import Slot, Statement, load_times_fast
from tokens.catalogue import text_search
from tokens.catalogue.listing import Order, Page, Window, page_of_rows, slot_values, walk_statement
from tokens.catalogue.records import NOTHING_ELSE, Extras, Record, write_records
from tokens.catalogue.selections import Selection
from tokens.catalogue.totals import EXACT_UP_TO, Total, beyond_limit, certainly_beyond_limit, remembered
from tokens.models import Token

# The matches with the sort's key, by whether the market has it.
_KEYS = {
    False: "SELECT id, deployed_at, is_named FROM found",
    True: (
        "SELECT found.id, COALESCE(market.{}, %s), found.is_named"
        " FROM found JOIN tokens_market AS market ON market.token_id = found.id"
    ),
}
_IDS = ArrayField(BigIntegerField())
# A walk that has found no page by then passes by too much that does not match.
_WALK_SECONDS = 0.25
# Matches come from their index: the planner would rather read the table until it has enough of them, which is quick
# where they are spread evenly, and reads everything where they are not. Their places fit into this much memory.
_FROM_INDEX = "SET LOCAL enable_seqscan = off; SET LOCAL work_mem = '64MB'; "
_SETTINGS_OF_INDEX = 2


@dataclass(frozen=True)
class _Matches:
    """How many there are, and (id, key, whether named by address or hash) of those on the page and one more."""

    number: int
    rows: Sequence[tuple[Any, ...]]


class _TooLong(Exception):
    """PostgreSQL ended a statement at its time limit."""


class _IsAny(Func):
    """Whether the first is an element of the second, an array."""

    template = "%(expressions)s)"
    arg_joiner = " = ANY("
    output_field = BooleanField()


def find(selection: Selection, order: Order, window: Window, extras: Extras = NOTHING_ELSE) -> tuple[Page, Total]:
    """The page of a search and how many tokens it finds. Raises SearchTimedOut."""
    deadline = time.monotonic() + settings.SEARCH_TIMEOUT_MS / 1000
    try:
        return _find(selection, order, window, extras, deadline=deadline)
    except _TooLong as error:
        raise SearchTimedOut from error


def _find(selection: Selection, order: Order, window: Window, extras: Extras, *, deadline: float) -> tuple[Page, Total]:
    named = _named_by(selection)
    # What is named comes first, which no walk along an index can do.
    total = None if named else remembered(selection) or certainly_beyond_limit(selection)
    if total is None:
        limit = None if named else EXACT_UP_TO
        matches = _sort_matches(selection, order, window, named=named, limit=limit, deadline=deadline)
        if limit is None or matches.number <= limit:
            return _page_of_matches(matches, order, window, extras), Total(matches.number)
        total = beyond_limit(selection)
    try:
        return _walk(selection, order, window, extras, deadline=deadline), total
    except _TooLong:
        matches = _sort_matches(selection, order, window, named=named, limit=None, deadline=deadline)
        return _page_of_matches(matches, order, window, extras), Total(matches.number)


def _named_by(selection: Selection) -> list[int]:
    """The ids of the tokens that the search names by an address or hash."""
    exact = text_search.exact_match(selection.q)
    return [] if exact is None else list(selection.without_search().tokens().filter(exact).values_list("pk", flat=True))


def _walk(selection: Selection, order: Order, window: Window, extras: Extras, *, deadline: float) -> Page:
    statement = walk_statement(selection, order, window.shape, extras)
    parameters = statement.bind(**slot_values(order, window.cursor))
    rows = _fetch(statement.sql, parameters, deadline=min(deadline, time.monotonic() + _WALK_SECONDS))
    return page_of_rows(rows, order, window, extras)


def _sort_matches(
    selection: Selection, order: Order, window: Window, *, named: list[int], limit: int | None, deadline: float
) -> _Matches:
    """All matches, or one more than the limit, and of these the window in its order."""
    statement = _match_statement(selection, bool(named))
    beyond, cursor_parameters = _beyond(order, window.cursor)
    direction = "DESC" if order.descending else "ASC"
    # To the planner a limit that it can't see is no reason to hope for an early end.
    some = "" if limit is None else f"LIMIT (SELECT {limit + 1})"
    sql = f"""
        WITH found (id, deployed_at, is_named) AS MATERIALIZED ({statement.sql} {some}),
        matches (id, sort_key, is_named) AS MATERIALIZED ({_KEYS[order.sort.by_market].format(order.sort.column)})
        SELECT counted.number, page.id, page.sort_key, page.is_named
        FROM (SELECT count(*) AS number FROM matches) AS counted
        LEFT JOIN (
            SELECT * FROM matches WHERE {beyond}
            ORDER BY is_named DESC, sort_key {direction}, id {direction}
            LIMIT {window.limit + 1} OFFSET {window.offset}
        ) AS page ON TRUE
        ORDER BY page.is_named DESC, page.sort_key {direction}, page.id {direction}
    """
    unknown = (order.unknown,) if order.sort.by_market else ()
    parameters = (*statement.bind(named=named), *unknown, *cursor_parameters)
    rows = _fetch(_FROM_INDEX + sql, parameters, deadline=deadline, skipped_results=_SETTINGS_OF_INDEX)
    return _Matches(rows[0][0], [row[1:] for row in rows if row[1] is not None])


@functools.lru_cache(maxsize=1024)
def _match_statement(selection: Selection, has_named: bool) -> Statement:
    match = text_search.indexed_entry_match(selection.q)
    is_named: Expression = Value(False)
    if has_named:
        is_named = _IsAny(F("token_id"), Slot("named", _IDS))
        match |= Q(is_named)
    entries = selection.entries(match).annotate(is_named=is_named)
    return Statement.of(entries.values_list("token_id", "deployed_at", "is_named"))


def _beyond(order: Order, cursor: Cursor | OlderCursor | None) -> tuple[str, tuple[Any, ...]]:
    """The condition that a match comes after the cursor. What a search names stands before everything else."""
    if cursor is None:
        return "TRUE", ()
    values = slot_values(order, cursor)
    if isinstance(cursor, OlderCursor):
        return f"NOT is_named AND sort_key {'<' if order.descending else '>='} %s", (values["value"],)
    beyond = f"(sort_key, id) {'<' if order.descending else '>'} (%s, %s)"
    condition = f"(NOT is_named OR {beyond})" if cursor.exact else f"NOT is_named AND {beyond}"
    return condition, (values["value"], values["row_id"])


def _page_of_matches(matches: _Matches, order: Order, window: Window, extras: Extras) -> Page:
    shown = matches.rows[: window.limit]
    records = _read_in_order([row_id for row_id, _, _ in shown], extras)
    if not shown or len(matches.rows) <= window.limit:
        return Page(records, None)
    row_id, key, is_named = shown[-1]
    return Page(records, order.write_cursor(key, row_id, exact=is_named))


def _read_in_order(ids: Sequence[int], extras: Extras) -> list[Record]:
    if not ids:
        return []
    rows = {row[0]: row for row in _by_id_statement(extras).fetch(ids=list(ids))}
    return write_records([rows[row_id] for row_id in ids if row_id in rows], extras)


@functools.lru_cache
def _by_id_statement(extras: Extras) -> Statement:
    wanted = Q(_IsAny(F("id"), Slot("ids", _IDS)))
    return Statement.of(Token.objects.filter(wanted).with_copies().values_list(*extras.columns))


def _fetch(sql: str, parameters: Iterable[Any], *, deadline: float, skipped_results: int = 0) -> list[tuple[Any, ...]]:
    """All rows of a statement that PostgreSQL ends at the deadline. Raises _TooLong.

    The limit and the statement go as one message, which PostgreSQL takes for one transaction: the limit ends with it,
    and costs no way to the server of its own.
    """
    milliseconds = int((deadline - time.monotonic()) * 1000)
    if milliseconds < 1:
        raise _TooLong
    with connection.cursor() as cursor:
        load_times_fast(cursor)
        try:
            cursor.execute(f"SET LOCAL statement_timeout = {milliseconds}; {sql}", tuple(parameters))
            for _ in range(skipped_results + 1):
                cursor.nextset()
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        except OperationalError as error:
            if isinstance(error.__cause__, QueryCanceled):
                raise _TooLong from error
            raise
    return rows
