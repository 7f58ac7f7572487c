"""Cursor pagination: the position after a page's last row, by value, so that ties and inserted rows do no harm.

A cursor is standard base64 of compact JSON `{"id": <sort value of the last row>, "k": <row id>, "s": "<sortBy>"}`. The
value is null if it is unknown. `"d": "asc"` is added for the direction that is not the default. `"x": true` is added if
the last row preceded all others because it matched the search exactly. `"p": true` is added if the primary served the
page, and there is a read replica: the replica may still lack the next page's rows, which the primary serves,
too. The legacy form has `id` only, a timestamp to the second without a time zone.
"""

import base64
import binascii
import datetime
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson

from config.postgresql.replica import has_replica, is_reading_replica, require_primary

SortValue = datetime.datetime | int | float | Decimal

# An encoded cursor has about 100 characters.
_MAX_CURSOR_LENGTH = 512
_MAX_BIGINT = 2**63 - 1
_RULE = "must be the cursor of an earlier answer of this list"
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3}([0-9]{3})?)?(Z|\+00:00)?")
_DECIMAL = re.compile(r"-?[0-9]{1,100}(\.[0-9]{1,100})?")
_YEARS = range(1970, 9999)


class CursorError(ValueError):
    """Malformed cursor; its text is the contract's rule for the parameter `cursor`."""


@dataclass(frozen=True)
class Cursor:
    """Position of a page's last row."""

    # None is an unknown number.
    value: SortValue | None
    row_id: int
    # Whether the row matched a search exactly, by address or hash.
    exact: bool = False


@dataclass(frozen=True)
class LegacyCursor:
    """Legacy position: the second in a page's last row."""

    second: datetime.datetime

    @property
    def end(self) -> datetime.datetime:
        """Return the first instant after the second, which includes all rows within the second."""
        return self.second + datetime.timedelta(seconds=1)


def encode_cursor(cursor: Cursor, *, sort_by: str, descending: bool = True) -> str:
    """Return a cursor's text form."""
    content: dict[str, Any] = {"id": _serialize(cursor.value), "k": cursor.row_id, "s": sort_by}
    if not descending:
        content["d"] = "asc"
    if cursor.exact:
        content["x"] = True
    if has_replica() and not is_reading_replica():
        content["p"] = True
    return base64.b64encode(orjson.dumps(content)).decode("ascii")


def decode_cursor(
    text: str, *, sort_by: str, descending: bool = True, numeric: bool = False, whole: bool = False
) -> Cursor | LegacyCursor | None:
    """Return the cursor in `text`. If it belongs to another sort, return None, which is the first page.

    `numeric` declares that the sort's values are numbers, not timestamps. `whole` declares whole numbers: PostgreSQL
    compares these with other numbers without its index. Raises CursorError, and ReplicaBehindError.
    """
    content = _parse_object(text)
    if content.get("p"):
        require_primary()
    if "s" not in content and "k" not in content:
        second = _parse_timestamp(content.get("id")).replace(microsecond=0)
        return None if numeric else LegacyCursor(second)
    exact = content.get("x", False)
    if not isinstance(content.get("s"), str) or content.get("d", "asc") != "asc" or not isinstance(exact, bool):
        raise CursorError(_RULE)
    if content["s"] != sort_by or ("d" not in content) != descending:
        return None
    row_id = content.get("k")
    if type(row_id) is not int or abs(row_id) > _MAX_BIGINT:
        raise CursorError(_RULE)
    if not numeric:
        return Cursor(_parse_timestamp(content.get("id")), row_id, exact)
    # The key is required even if its value is unknown.
    value = content.get("id", "")
    return Cursor(None if value is None else _parse_number(value, whole=whole), row_id, exact)


def _serialize(value: SortValue | None) -> str | int | float | None:
    if isinstance(value, datetime.datetime):
        moment = value.astimezone(datetime.UTC)
        precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
        return moment.isoformat(timespec=precision).removesuffix("+00:00") + "Z"
    return format(value, "f") if isinstance(value, Decimal) else value


def _parse_object(text: str) -> dict[str, Any]:
    if len(text) > _MAX_CURSOR_LENGTH:
        raise CursorError(_RULE)
    try:
        # Clients that build URLs by hand drop the padding.
        content = orjson.loads(base64.b64decode(text + "=" * (-len(text) % 4), validate=True))
    except (binascii.Error, ValueError) as error:
        raise CursorError(_RULE) from error
    if not isinstance(content, dict):
        raise CursorError(_RULE)
    return content


def _parse_timestamp(value: Any) -> datetime.datetime:
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
        raise CursorError(_RULE)
    try:
        moment = datetime.datetime.fromisoformat(value)
    except ValueError as error:
        raise CursorError(_RULE) from error
    if moment.year not in _YEARS:
        raise CursorError(_RULE)
    return moment.replace(tzinfo=datetime.UTC)


def _parse_number(value: Any, *, whole: bool) -> int | float | Decimal:
    if type(value) is int and abs(value) <= _MAX_BIGINT:
        return value
    if whole:
        raise CursorError(_RULE)
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return Decimal(value)
    # Always finite: orjson rejects numbers beyond a double's range.
    if type(value) is float:
        return value
    raise CursorError(_RULE)
