"""Responses as text for a terminal: a table for each list of objects, and lines of all other values."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_LONGEST = 44
_LONGEST_SYMBOL = 8
_SHORTEST_NAME = 6
# Columns of tokens, each with the fields that have it.
_TOKEN_COLUMNS = {
    "symbol": ("symbol",),
    "name": ("name",),
    "chain": ("chain_id", "chainId"),
    "address": ("contract_address", "address"),
    "market cap": ("marketCap",),
}

Row = Mapping[str, Any]


def as_text(answer: Any) -> str:
    """Return a response as text: its tables, and then a line for each other value.

    Lists within rows are left out, and most values of tokens; `--json` has everything.
    """
    if not answer or not isinstance(answer, Mapping):
        return _cell(answer) if answer else ""
    if isinstance(answer.get("data"), Mapping) and "event" not in answer:
        answer = answer["data"]
    tables: dict[str, list[Row]] = {}
    lines: list[tuple[str, str]] = []
    _collect("", answer, tables, lines)
    width = max((len(name) for name, _ in lines), default=0)
    # The list that is requested is the first value.
    is_named = len(tables) > 1 or next(iter(tables), "") != next(iter(answer))
    parts = [f"{name}:\n{_table(rows)}" if is_named else _table(rows) for name, rows in tables.items()]
    return "\n".join([*parts, *(f"{name:<{width}}  {text}".rstrip() for name, text in lines)])


def _collect(path: str, value: Any, tables: dict[str, list[Row]], lines: list[tuple[str, str]]) -> None:
    """Add a value of a response to its tables or lines, those within objects by a path such as `totals.launches`."""
    rows = _rows(value)
    if rows:
        tables[path] = rows
    elif isinstance(value, Mapping) and value:
        for name, each in value.items():
            _collect(f"{path}.{name}" if path else name, each, tables, lines)
    else:
        texts = [_cell(each) for each in value] if isinstance(value, list) else [_cell(value)]
        lines.extend((path if not number else "", text) for number, text in enumerate(texts or ["[]"]))


def _rows(value: Any) -> list[Row]:
    """Return a list of objects, or those of one kind that an object has by their keys; empty for another value."""
    rows = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        return []
    are_one_kind = len(rows) > 1 and len({frozenset(row) for row in rows}) == 1
    return rows if rows is value or are_one_kind else []


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # A name from a chain must not move the terminal's cursor.
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _table(rows: Sequence[Row]) -> str:
    """Return the columns of tokens, or else those that fit into the terminal, in the sequence of the rows."""
    cells = [dict(_values("", row)) for row in rows]
    width = shutil.get_terminal_size().columns
    columns = _token_columns(cells, width) or _fitting_columns(cells, width)
    padded = [[text.ljust(max(map(len, column))) for text in column] for column in columns]
    return "\n".join("  ".join(line).rstrip() for line in zip(*padded, strict=True))


def _values(path: str, row: Row) -> Iterator[tuple[str, str]]:
    """Yield the values of a row and of its objects by their paths."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _values(f"{path}{name}.", value)
        elif not isinstance(value, list):
            yield f"{path}{name}", _cell(round(value) if name == "marketCap" and isinstance(value, float) else value)


def _paths(cells: Sequence[Mapping[str, str]]) -> list[str]:
    return list(dict.fromkeys(path for row in cells for path in row))


def _token_columns(cells: Sequence[Mapping[str, str]], width: int) -> list[list[str]]:
    """Return the columns of tokens, with names cut to the width; empty for rows that are no tokens."""
    columns = {
        heading: [heading, *(row.get(path, "") for row in cells)]
        for heading, names in _TOKEN_COLUMNS.items()
        for path in [path for path in _paths(cells) if path.rpartition(".")[2] in names][:1]
    }
    if not {"symbol", "name", "address"} <= set(columns):
        return []
    columns["symbol"] = [_cut(text, _LONGEST_SYMBOL) for text in columns["symbol"]]
    left = width - sum(max(map(len, column)) + 2 for heading, column in columns.items() if heading != "name")
    columns["name"] = [_cut(text, max(left, _SHORTEST_NAME)) for text in columns["name"]]
    return list(columns.values())


def _fitting_columns(cells: Sequence[Mapping[str, str]], width: int) -> list[list[str]]:
    columns = []
    for path in _paths(cells):
        column = [path, *(row.get(path, "") for row in cells)]
        longest = max(map(len, column))
        if longest <= min(width, _LONGEST):
            columns.append(column)
            width -= longest + 2
    return columns


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
