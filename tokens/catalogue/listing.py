"""Keyset pagination over token lists: sorts, requested pages, keys of rows, and pages."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from config.cursors import Cursor, LegacyCursor, decode_cursor, encode_cursor
from tokens.catalogue.responses import TokenRecord
from tokens.models.sorts import DEPLOYED_AT, Sort


class PageKey(NamedTuple):
    """A listed token's id and sort value, and whether it precedes all others as an exact match of a search."""

    row_id: int
    value: Any
    is_exact: bool = False


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

    def build_cursor(self, key: PageKey) -> str:
        """Return the cursor that follows a token."""
        value = None if self.sort.by_market and key.value == self.unknown_key else key.value
        cursor = Cursor(value, key.row_id, key.is_exact)
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
