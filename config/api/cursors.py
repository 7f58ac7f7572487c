"""Cursors of lists: where the page before ended, by value, so that ties and rows that come meanwhile do no harm.

A cursor is standard base64 of compact JSON `{"id": <sort value of the last row>, "k": <row id>, "s": "<sortBy>"}`. The
value is null where it is unknown; `"d": "asc"` is added where the direction is not the default, and `"x": true` where
the last row stood before all others because a search named it by its address. The older form has `id` alone, a
timestamp without zone, to the second.
"""

import base64
import binascii
import datetime
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson
from rest_framework.exceptions import ValidationError

SortValue = datetime.datetime | int | float | Decimal

# A cursor of ours has about 100 characters.
_MAX_CURSOR_LENGTH = 512
_MAX_BIGINT = 2**63 - 1
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3}([0-9]{3})?)?(Z|\+00:00)?")
_DECIMAL = re.compile(r"-?[0-9]{1,100}(\.[0-9]{1,100})?")
_YEARS = range(1970, 9999)


@dataclass(frozen=True)
class Cursor:
    """Where the page before ended."""

    # None is an unknown number.
    value: SortValue | None
    row_id: int
    # Whether that row was one that a search named.
    exact: bool = False


@dataclass(frozen=True)
class OlderCursor:
    """The older form: the second in which the page before ended."""

    second: datetime.datetime

    @property
    def end(self) -> datetime.datetime:
        """The first instant after it: at or before that second is every instant within it."""
        return self.second + datetime.timedelta(seconds=1)


def encode(cursor: Cursor, *, sort_by: str, descending: bool = True) -> str:
    """The text of a cursor."""
    content: dict[str, Any] = {"id": _write(cursor.value), "k": cursor.row_id, "s": sort_by}
    if not descending:
        content["d"] = "asc"
    if cursor.exact:
        content["x"] = True
    return base64.b64encode(orjson.dumps(content)).decode("ascii")


def decode(
    text: str, *, sort_by: str, descending: bool = True, numeric: bool = False, whole: bool = False
) -> Cursor | OlderCursor | None:
    """The cursor in `text`; None where it was made for another sort, which means the first page.

    `numeric` says that this sort's values are numbers and not timestamps, `whole` that they are whole numbers: these
    PostgreSQL compares with others by leaving its index. Raises ValidationError (400) on `cursor`.
    """
    content = _read_object(text)
    if "s" not in content and "k" not in content:
        second = _read_timestamp(content.get("id")).replace(microsecond=0)
        return None if numeric else OlderCursor(second)
    exact = content.get("x", False)
    if not isinstance(content.get("s"), str) or content.get("d", "asc") != "asc" or not isinstance(exact, bool):
        raise _refused()
    if content["s"] != sort_by or ("d" not in content) != descending:
        return None
    row_id = content.get("k")
    if type(row_id) is not int or abs(row_id) > _MAX_BIGINT:
        raise _refused()
    if not numeric:
        return Cursor(_read_timestamp(content.get("id")), row_id, exact)
    # The key must be there, also where its value is unknown.
    value = content.get("id", "")
    return Cursor(None if value is None else _read_number(value, whole=whole), row_id, exact)


def _write(value: SortValue | None) -> str | int | float | None:
    if isinstance(value, datetime.datetime):
        moment = value.astimezone(datetime.UTC)
        precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
        return moment.isoformat(timespec=precision).removesuffix("+00:00") + "Z"
    return format(value, "f") if isinstance(value, Decimal) else value


def _read_object(text: str) -> dict[str, Any]:
    if len(text) > _MAX_CURSOR_LENGTH:
        raise _refused()
    try:
        # Clients that build URLs by hand lose the padding.
        content = orjson.loads(base64.b64decode(text + "=" * (-len(text) % 4), validate=True))
    except (binascii.Error, ValueError) as error:
        raise _refused() from error
    if not isinstance(content, dict):
        raise _refused()
    return content


def _read_timestamp(value: Any) -> datetime.datetime:
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
        raise _refused()
    try:
        moment = datetime.datetime.fromisoformat(value)
    except ValueError as error:
        raise _refused() from error
    if moment.year not in _YEARS:
        raise _refused()
    return moment.replace(tzinfo=datetime.UTC)


def _read_number(value: Any, *, whole: bool) -> int | float | Decimal:
    if type(value) is int and abs(value) <= _MAX_BIGINT:
        return value
    if whole:
        raise _refused()
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return Decimal(value)
    # Always finite: the parser refuses numbers beyond a double's range.
    if type(value) is float:
        return value
    raise _refused()


def _refused() -> ValidationError:
    return ValidationError({"cursor": ["must be the cursor of an earlier answer of this list"]})
