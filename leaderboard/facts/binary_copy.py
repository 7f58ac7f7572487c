"""Query results as numpy columns, read from PostgreSQL by COPY in binary format; all rows have the same width here.

https://www.postgresql.org/docs/current/sql-copy.html ("Binary Format"): a 19-byte header; for each row its field count
in two bytes, and before each field its length in four; a two-byte trailer. No field may be null.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db.backends.utils import CursorWrapper

Array = npt.NDArray[Any]

_HEADER_BYTES = 19
_TRAILER_BYTES = 2
# Server messages, one row each, joined at a time; a longer join would allocate new memory each time.
_MESSAGES_AT_ONCE = 256
# Bytes buffered at a time.
_CHUNK_BYTES = 1 * 2**20
# PostgreSQL counts microseconds from 2000-01-01.
_EPOCH_SECONDS = 946_684_800


class UnexpectedRowFormatError(ValueError):
    """Rows that do not match the column types' widths: a null, or a changed table."""


@dataclass(frozen=True)
class BinaryColumn:
    """Column type: its dtype on the wire, in network byte order, and its value conversion."""

    wire: str
    convert: Callable[[Array], Array]


def _as_type(kind: Any, values: Array) -> Array:
    return values.astype(kind)


def _to_seconds(values: Array) -> Array:
    return values.astype(np.int64) // 1_000_000 + _EPOCH_SECONDS


# bigint, or eight bytes from a bytea.
INT64 = BinaryColumn(">i8", partial(_as_type, np.int64))
# smallint with few distinct values.
INT8 = BinaryColumn(">i2", partial(_as_type, np.int8))
BOOL = BinaryColumn("|u1", partial(_as_type, np.bool_))
FLOAT64 = BinaryColumn(">f8", partial(_as_type, np.float64))
# timestamptz; seconds since 1970, rounded down.
TIMESTAMP = BinaryColumn(">i8", _to_seconds)


def index_into(ids: npt.NDArray[np.int64]) -> BinaryColumn:
    """Return the column type for a bigint that is in the sorted `ids`; it is converted to that id's index."""
    return BinaryColumn(">i8", lambda values: np.searchsorted(ids, values.astype(np.int64)).astype(np.int32))


class _GrowingArray:
    """Array that grows in place: the kernel remaps large allocations, so no second copy ever exists."""

    def __init__(self, column: BinaryColumn) -> None:
        self._column = column
        self._values = column.convert(np.empty(0, column.wire))
        self._used = 0

    def add(self, values: Array) -> None:
        end = self._used + len(values)
        if end > len(self._values):
            # The kernel allocates pages only on first write, so the reserve costs nothing.
            self._values.resize(end + end // 2, refcheck=False)
        self._values[self._used : end] = self._column.convert(values)
        self._used = end

    def whole(self) -> Array:
        self._values.resize(self._used, refcheck=False)
        return self._values


def copy_columns(
    cursor: CursorWrapper, query: str, parameters: tuple[Any, ...], columns: Mapping[str, BinaryColumn]
) -> dict[str, Array]:
    """Run the query and return its columns under the names in `columns`, which follow the SELECT list.

    Memory beyond the columns themselves is a few megabytes. Raises UnexpectedRowFormatError.
    """
    row = _row_type(columns)
    arrays = {name: _GrowingArray(column) for name, column in columns.items()}
    # COPY accepts no query parameters.
    selected = cursor.mogrify(query, parameters)
    with cursor.copy(f"COPY ({selected}) TO STDOUT (FORMAT binary)") as messages:
        for chunk in _chunks(iter(messages), row.itemsize):
            rows = np.frombuffer(chunk, dtype=row)
            if (rows["fields"] != len(columns)).any():
                raise UnexpectedRowFormatError(query)
            for name, column in arrays.items():
                column.add(rows[name])
    return {name: column.whole() for name, column in arrays.items()}


def _row_type(columns: Mapping[str, BinaryColumn]) -> np.dtype[Any]:
    fields = [("fields", ">i2")]
    for name, column in columns.items():
        fields += [(f"length of {name}", ">i4"), (name, column.wire)]
    return np.dtype(fields)


def _chunks(messages: Iterator[bytes], width: int) -> Iterator[bytes]:
    """Yield whole rows, many at a time, without the header and the trailer."""
    buffer = bytearray(b"".join(islice(messages, 1))[_HEADER_BYTES:])
    while block := b"".join(islice(messages, _MESSAGES_AT_ONCE)):
        buffer += block
        if len(buffer) > _CHUNK_BYTES:
            rows_end = len(buffer) // width * width
            yield bytes(buffer[:rows_end])
            del buffer[:rows_end]
    if len(buffer) % width != _TRAILER_BYTES:
        raise UnexpectedRowFormatError(f"{len(buffer) % width} bytes are left")
    yield bytes(buffer[:-_TRAILER_BYTES])
