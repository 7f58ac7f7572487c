"""Responses as text for a terminal: a table of a list's rows, and lines of an object's values."""

import json
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

_LONGEST = 44


def as_text(answer: Any) -> str:
    """Return a response as text: a table if it is one list with scalars around, else lines.

    Objects within rows are left out; `--json` has everything.
    """
    if not isinstance(answer, Mapping):
        return "" if answer is None else json.dumps(answer, ensure_ascii=False)
    rows = answer.get("data")
    if isinstance(rows, Mapping) and "event" not in answer:
        return _lines(rows)
    if not _is_table(rows):
        parts = [value for value in answer.values() if not _is_scalar(value)]
        rows = parts[0] if len(parts) == 1 and _is_table(parts[0]) else None
    if rows is None:
        return _lines(answer)
    around = {name: value for name, value in answer.items() if value is not rows and _is_scalar(value)}
    return "\n".join(part for part in (_table(rows), _lines(around)) if part)


def _is_table(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(row, Mapping) for row in value)


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, Mapping | list)


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # A name from a chain must not move the terminal's cursor.
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _lines(values: Mapping[str, Any]) -> str:
    width = max(map(len, values), default=0)
    return "\n".join(f"{name:<{width}}  {_cell(value)}" for name, value in values.items())


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the columns that fit into the terminal, in the sequence of the first row."""
    names = [name for name, value in rows[0].items() if _is_scalar(value)] if rows else []
    columns, left = [], shutil.get_terminal_size().columns
    for name in names:
        column = [name, *(_cell(row.get(name)) for row in rows)]
        width = max(map(len, column))
        if width <= min(left, _LONGEST):
            columns.append([text.ljust(width) for text in column])
            left -= width + 2
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))
