"""Keyset pages and their cursors: a walk meets every row once, also with ties and with rows that come meanwhile.

A cursor is standard base64 of compact JSON `{"id": <sort value of the last row>, "k": <row id>, "s": "<sortBy>"}`, and
`"d": "asc"` as a fourth key where the direction is not the default. The older form has `id` alone, a timestamp without
zone, to the second.
"""

import base64
import binascii
import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson
from django.db.models import F, QuerySet
from django.db.models.fields.tuple_lookups import TupleGreaterThan, TupleLessThan
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

    value: SortValue
    row_id: int


@dataclass(frozen=True)
class OlderCursor:
    """The older form: the second in which the page before ended."""

    second: datetime.datetime


def encode(value: SortValue, row_id: int, *, sort_by: str, descending: bool = True) -> str:
    """The cursor after the row with this sort value and id."""
    content: dict[str, Any] = {"id": _write(value), "k": row_id, "s": sort_by}
    if not descending:
        content["d"] = "asc"
    return base64.b64encode(orjson.dumps(content)).decode("ascii")


def decode(text: str, *, sort_by: str, descending: bool = True, numeric: bool = False) -> Cursor | OlderCursor | None:
    """The cursor in `text`; None where it was made for another sort, which means the first page.

    `numeric` says that this sort's values are numbers and not timestamps. Raises ValidationError (400) on `cursor`.
    """
    content = _read_object(text)
    if "s" not in content and "k" not in content:
        second = _read_timestamp(content.get("id")).replace(microsecond=0)
        return None if numeric else OlderCursor(second)
    if not isinstance(content.get("s"), str) or content.get("d", "asc") != "asc":
        raise _refused()
    if content["s"] != sort_by or ("d" not in content) != descending:
        return None
    row_id = content.get("k")
    if type(row_id) is not int or abs(row_id) > _MAX_BIGINT:
        raise _refused()
    return Cursor(_read_number(content.get("id")) if numeric else _read_timestamp(content.get("id")), row_id)


def page(
    queryset: QuerySet[Any, Any],
    *,
    sort_by: str,
    field: str,
    limit: int,
    cursor_text: str | None = None,
    descending: bool = True,
    offset: int = 0,
    numeric: bool = False,
) -> tuple[list[Any], str | None]:
    """At most `limit` rows after the cursor, then after `offset` more; and the next page's cursor, None on the last.

    `field` is a column or annotation that is never null, with an index on (field, id): a sort with empty values last
    annotates COALESCE(column, a number beyond all others). Rows are model instances or dicts (`.values()`), with
    `field` and `id` in them. Raises ValidationError (400) on `cursor`.
    """
    if cursor_text:
        cursor = decode(cursor_text, sort_by=sort_by, descending=descending, numeric=numeric)
        queryset = queryset if cursor is None else _after(queryset, cursor, field=field, descending=descending)
    if limit == 0:
        return [], None
    direction = "-" if descending else ""
    ordered = queryset.order_by(f"{direction}{field}", f"{direction}id")
    # One row more than asked for tells whether there is another page.
    rows = list(ordered[offset : offset + limit + 1])
    if len(rows) <= limit:
        return rows, None
    last = rows[limit - 1]
    return rows[:limit], encode(_read(last, field), _read(last, "id"), sort_by=sort_by, descending=descending)


def _after(
    queryset: QuerySet[Any, Any], cursor: Cursor | OlderCursor, *, field: str, descending: bool
) -> QuerySet[Any, Any]:
    if isinstance(cursor, OlderCursor):
        if not descending:
            return queryset.filter(**{f"{field}__gte": cursor.second})
        # "At or before that second" holds for every instant within it.
        return queryset.filter(**{f"{field}__lt": cursor.second + datetime.timedelta(seconds=1)})
    # A row comparison, which PostgreSQL answers from the index on both columns; the form with OR reads all rows before.
    beyond = TupleLessThan if descending else TupleGreaterThan
    return queryset.filter(beyond((F(field), F("id")), (cursor.value, cursor.row_id)))


def _read(row: Any, name: str) -> Any:
    return row[name] if isinstance(row, Mapping) else getattr(row, name)


def _write(value: SortValue) -> str | int | float:
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


def _read_number(value: Any) -> int | float | Decimal:
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return Decimal(value)
    if type(value) is int and abs(value) <= _MAX_BIGINT:
        return value
    # Always finite: the parser refuses numbers beyond a double's range.
    if type(value) is float:
        return value
    raise _refused()


def _refused() -> ValidationError:
    return ValidationError({"cursor": ["must be the cursor of an earlier answer of this list"]})
