"""Paths into decoded values: struct members by name, and list items by index from 0."""

from typing import Any

from tokens.chains.errors import LogDecodingError

Path = tuple[str | int, ...]


def part_at(values: Any, path: Path) -> Any:
    """Return the decoded value at a path. Raises LogDecodingError for an index that a list lacks."""
    value = find_part(values, path)
    if value is None:
        raise LogDecodingError(f"a list without the place in {path}")
    return value


def find_part(values: Any, path: Path) -> Any:
    """Return the decoded value at a path; None for an index that a list lacks."""
    for key in path:
        try:
            values = values[key]
        except IndexError:
            return None
    return values
