"""Paths to parts of decoded values: members of structs by name, and places of lists from 0."""

from typing import Any

from tokens.chains.errors import LogDecodingError

Path = tuple[str | int, ...]


def part_at(values: Any, path: Path) -> Any:
    """Return the part of decoded values at a path. Raises LogDecodingError for a place that a list lacks."""
    found = find_part(values, path)
    if found is None:
        raise LogDecodingError(f"a list without the place in {path}")
    return found


def find_part(values: Any, path: Path) -> Any:
    """Return the part of decoded values at a path; None for a place that a list lacks."""
    for key in path:
        try:
            values = values[key]
        except IndexError:
            return None
    return values
