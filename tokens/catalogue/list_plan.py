"""Plans for token lists: which statements return a list's page and its total.

A scan in sort order fills a page quickly if many tokens match, and may read the whole table for ten rows if few do.
Sorting all matches costs the same for each page, and takes seconds for a frequent word. The plan chooses by the total.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from config.postgresql.compiled_queries import CompiledQuery
from config.postgresql.timeouts import StatementTimeoutError, fetch_before_deadline
from tokens.catalogue.list_statements import ListStatements, records_statement
from tokens.catalogue.listing import ListSort, PageKey, PageRequest, TokenPage
from tokens.catalogue.records import NO_EXTRAS, Extras, build_records
from tokens.catalogue.selections import Selection
from tokens.catalogue.totals import EXACT_UP_TO, Total, estimated_total, fetch_large_total, fetch_total

# A filtered list with at most this many tokens is sorted without a scan in sort order, which may pass all other tokens.
_FEW = 1_000
# The share of SEARCH_TIMEOUT_MS that a timed scan may take, 0.25 s by default. A slower scan skips too many rows that
# do not match.
_TIMED_SCAN_PART = 1 / 6
# Forces the text index. The planner prefers a sequential scan that stops at the limit, which is fast if matches are
# spread evenly and reads the whole table if they are not. The match bitmap fits into this work_mem.
_INDEX_SCAN_SETTINGS = ("enable_seqscan = off", "work_mem = '64MB'")


class SearchTimeoutError(Exception):
    """Raised if a search or a filtered list exceeds SEARCH_TIMEOUT_MS."""


def fetch_list(
    selection: Selection, list_sort: ListSort, page_request: PageRequest, extras: Extras = NO_EXTRAS
) -> tuple[TokenPage, Total | None]:
    """Return a list's page and its total, None if the page does not depend on it. Raises SearchTimeoutError."""
    if page_request.limit == 0 and not selection.q:
        # A page without tokens takes no statement.
        return TokenPage([], None), None
    statements = ListStatements.of(selection)
    reader = _PageReader(statements, list_sort, page_request, extras)
    if not selection.has_filters:
        # The tokens of a user, a wallet or a chain have their own index: the page does not depend on the total.
        return reader.fetch(), None
    with _time_limit() as deadline:
        if not selection.q:
            total = fetch_total(statements)
            if total.is_exact and total.number <= _FEW:
                # A scan may pass all other tokens, and sorting so few is fast.
                return reader.sort_matches(deadline)
            # A scan usually fills a page quickly.
            return reader.scan(deadline, total)
        exact = statements.exact_ids
        if exact and (exact_ids := [row_id for (row_id,) in exact.fetch()]):
            # These tokens precede all other matches, which a scan in sort order can't do.
            return reader.sort_matches(deadline, exact_ids)
        large_total = fetch_large_total(statements)
        if not large_total:
            # No estimate of few matches is reliable. One statement counts them up to the limit, and sorts them.
            number, keys = reader.fetch_matches(deadline, limit=EXACT_UP_TO)
            if number <= EXACT_UP_TO:
                return reader.fetch_records(keys), Total(number)
        # Sorting so many matches takes too long.
        return reader.scan(deadline, large_total or estimated_total(statements))


@dataclass(frozen=True)
class _PageReader:
    """Reader of one page. After a deadline, in monotonic seconds, it raises StatementTimeoutError."""

    statements: ListStatements
    list_sort: ListSort
    page_request: PageRequest
    extras: Extras

    def fetch(self) -> TokenPage:
        """Return the page from a scan without a time limit."""
        # Without filters and by date, every page has the same plan, so a prepared statement is safe. With filters, the
        # plan depends on their values. By market, it depends on the substitute for unknown values, which the index
        # contains.
        has_one_plan = self.statements.selection == Selection() and not self.list_sort.sort.by_market
        statement = self.statements.page(self.list_sort, self.page_request, self.extras)
        return self._build_scanned(statement.fetch_prepared() if has_one_plan else statement.fetch())

    def scan(self, deadline: float, total: Total) -> tuple[TokenPage, Total]:
        """Return the page from a timed scan, with this total; if it takes too long, from all matches."""
        scan_deadline = time.monotonic() + _TIMED_SCAN_PART * settings.SEARCH_TIMEOUT_MS / 1000
        statement = self.statements.page(self.list_sort, self.page_request, self.extras)
        with suppress(StatementTimeoutError):
            rows = fetch_before_deadline(statement, deadline=min(deadline, scan_deadline))
            return self._build_scanned(rows), total
        return self.sort_matches(deadline)

    def sort_matches(self, deadline: float, exact_ids: Sequence[int] = ()) -> tuple[TokenPage, Total]:
        """Return the page from all matches, with their number; the matches with `exact_ids` come first."""
        number, keys = self.fetch_matches(deadline, exact_ids=exact_ids)
        return self.fetch_records(keys), Total(number)

    def fetch_matches(
        self, deadline: float, *, exact_ids: Sequence[int] = (), limit: int | None = None
    ) -> tuple[int, list[PageKey]]:
        """Return the number of matches, at most one above `limit`, and the keys of the page and the next match."""
        matches = self.statements.sorted_matches(self.list_sort, self.page_request, exact_ids=exact_ids, limit=limit)
        rows = fetch_before_deadline(matches, deadline=deadline, settings=_INDEX_SCAN_SETTINGS)
        # Without a match on the page, one row has only the number.
        return rows[0][0], [PageKey(*row[1:]) for row in rows if row[1] is not None]

    def fetch_records(self, keys: Sequence[PageKey]) -> TokenPage:
        """Return the page with the records of its keys."""
        ids = [key.row_id for key in keys[: self.page_request.limit]]
        return self._build(keys, records_statement(self.extras).fetch(ids=ids) if ids else ())

    def _build_scanned(self, rows: Sequence[tuple[Any, ...]]) -> TokenPage:
        return self._build([PageKey(row[0], row[-1]) for row in rows], rows)

    def _build(self, keys: Sequence[PageKey], rows: Iterable[tuple[Any, ...]]) -> TokenPage:
        """Return the page from the keys of its tokens and the next one, and its records' rows in any sequence."""
        limit = self.page_request.limit
        row_by_id = {row[0]: row for row in rows}
        page_rows = [row_by_id[key.row_id] for key in keys[:limit] if key.row_id in row_by_id]
        cursor = self.list_sort.build_cursor(keys[limit - 1]) if 0 < limit < len(keys) else None
        return TokenPage(build_records(page_rows, self.extras), cursor)


def first_ids(tokens: QuerySet[Any], number: int) -> list[int]:
    """Return the first rows' primary keys, for tokens or their entries. Raises SearchTimeoutError."""
    statement = CompiledQuery.of(tokens.values_list("pk")[:number])
    with _time_limit() as deadline:
        return [row_id for (row_id,) in fetch_before_deadline(statement, deadline=deadline)]


@contextmanager
def _time_limit() -> Iterator[float]:
    """Yield the monotonic time at which a search's or list's statements must end."""
    try:
        yield time.monotonic() + settings.SEARCH_TIMEOUT_MS / 1000
    except StatementTimeoutError as error:
        raise SearchTimeoutError from error
