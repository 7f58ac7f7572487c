"""Rows as text for PostgreSQL's COPY. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson


@dataclass(frozen=True, slots=True)
class CopyText:
    """Rows in COPY's text format, and their columns."""

    columns: tuple[str, ...]
    text: bytes


def copy_text(rows: Iterable[Mapping[str, Any]]) -> CopyText:
    """Rows of column -> value as COPY takes them; all have the columns of the first one, in its order.

    Dicts become JSON, lists of words that need no quotes become arrays. Each row is read once and let go, so that
    thousands can be made one after the other.
    """
    columns: tuple[str, ...] = ()
    lines = []
    for row in rows:
        columns = columns or tuple(row)
        # Addresses and hashes, which most values are, need no closer look.
        lines.append(
            "\t".join([value if type(value) is str and value.isalnum() else _value(value) for value in row.values()])
        )
    return CopyText(columns, "".join([f"{line}\n" for line in lines]).encode())


def _value(value: Any) -> str:
    if value is None:
        return r"\N"
    if isinstance(value, str):
        return _escape(value)
    if isinstance(value, dict):
        # JSON itself has no tab nor line break.
        return orjson.dumps(value).decode().replace("\\", "\\\\")
    if isinstance(value, list):
        return _escape("{" + ",".join(value) + "}")
    return str(value)


def _escape(text: str) -> str:
    """Without what COPY would take for the end of a value or of a row."""
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
