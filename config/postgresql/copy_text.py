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
    """Rows of column -> value as COPY takes them; all have the columns of the first one, in its order."""
    columns: tuple[str, ...] = ()
    lines = []
    for row in rows:
        columns = columns or tuple(row)
        lines.append(copy_line(row))
    return CopyText(columns, "".join(lines).encode())


def copy_line(row: Mapping[str, Any]) -> str:
    """One row. Dicts become JSON, lists of words that need no quotes become arrays."""
    # Addresses and hashes, which most values are, need no closer look.
    values = [value if type(value) is str and value.isalnum() else _value(value) for value in row.values()]
    return "\t".join(values) + "\n"


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
