"""Rows out of PostgreSQL as numpy columns: by COPY in its binary format, whose rows all have the same width here.

https://www.postgresql.org/docs/current/sql-copy.html ("Binary Format"): a header of 19 bytes; of each row the number of
its fields in two bytes, and before each field its length in four; at the end two bytes more. No field may be null.
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
# So many messages of the server, which have a row each, are joined at a time; more would take new memory each time.
_LINES_AT_ONCE = 256
# So much of the text lies here at a time.
_CHUNK_BYTES = 1 * 2**20
# PostgreSQL counts microseconds from 2000-01-01.
_EPOCH_SECONDS = 946_684_800


class NotAsExpected(ValueError):
    """The rows have another width than the types of their columns say: a null, or a table that has changed."""


@dataclass(frozen=True)
class Column:
    """What a field comes as, a dtype in network byte order, and what its values become."""

    wire: str
    convert: Callable[[Array], Array]


def _cast(kind: Any, values: Array) -> Array:
    return values.astype(kind)


def _seconds(values: Array) -> Array:
    return values.astype(np.int64) // 1_000_000 + _EPOCH_SECONDS


# bigint, or eight bytes of a bytea.
WHOLE = Column(">i8", partial(_cast, np.int64))
# smallint, of which there are few.
SMALL = Column(">i2", partial(_cast, np.int8))
TRUTH = Column("|u1", partial(_cast, np.bool_))
REAL = Column(">f8", partial(_cast, np.float64))
# timestamptz; whole seconds since 1970, cut.
MOMENT = Column(">i8", _seconds)


def indexed_in(ids: npt.NDArray[np.int64]) -> Column:
    """A bigint that is one of the sorted `ids`: becomes its place there."""
    return Column(">i8", lambda values: np.searchsorted(ids, values.astype(np.int64)).astype(np.int32))


class _Growing:
    """A column that grows in place: large memory is moved by the kernel, so that it is never there twice."""

    def __init__(self, column: Column) -> None:
        self._column = column
        self._values = column.convert(np.empty(0, column.wire))
        self._used = 0

    def add(self, values: Array) -> None:
        end = self._used + len(values)
        if end > len(self._values):
            # Memory that is not written to yet is not taken yet.
            self._values.resize(end + end // 2, refcheck=False)
        self._values[self._used : end] = self._column.convert(values)
        self._used = end

    def whole(self) -> Array:
        self._values.resize(self._used, refcheck=False)
        return self._values


def copy_columns(
    cursor: CursorWrapper, query: str, parameters: tuple[Any, ...], columns: Mapping[str, Column]
) -> dict[str, Array]:
    """What the query selects, by the names of `columns`, which are in its order. Raises NotAsExpected.

    Beside the columns themselves it takes some megabytes.
    """
    row = _row_type(columns)
    growing = {name: _Growing(column) for name, column in columns.items()}
    # COPY takes no parameters.
    selected = cursor.mogrify(query, parameters)
    with cursor.copy(f"COPY ({selected}) TO STDOUT (FORMAT binary)") as lines:
        for chunk in _chunks(iter(lines), row.itemsize):
            rows = np.frombuffer(chunk, dtype=row)
            if (rows["fields"] != len(columns)).any():
                raise NotAsExpected(query)
            for name, column in growing.items():
                column.add(rows[name])
    return {name: column.whole() for name, column in growing.items()}


def _row_type(columns: Mapping[str, Column]) -> np.dtype[Any]:
    fields = [("fields", ">i2")]
    for name, column in columns.items():
        fields += [(f"length of {name}", ">i4"), (name, column.wire)]
    return np.dtype(fields)


def _chunks(lines: Iterator[bytes], width: int) -> Iterator[bytes]:
    """Whole rows, many at a time, without what stands before and after all of them."""
    waiting = bytearray(b"".join(islice(lines, 1))[_HEADER_BYTES:])
    while some := b"".join(islice(lines, _LINES_AT_ONCE)):
        waiting += some
        if len(waiting) > _CHUNK_BYTES:
            whole = len(waiting) // width * width
            yield bytes(waiting[:whole])
            del waiting[:whole]
    if len(waiting) % width != _TRAILER_BYTES:
        raise NotAsExpected(f"{len(waiting) % width} bytes are left")
    yield bytes(waiting[:-_TRAILER_BYTES])
