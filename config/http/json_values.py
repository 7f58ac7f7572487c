"""Parts of JSON that others wrote. Nothing of it is believed: what has another type than expected is not there."""

from typing import Any

Json = Any


def member(value: Json, name: str) -> Json:
    """What an object has under a name; None where it has nothing, or is none."""
    return value.get(name) if isinstance(value, dict) else None


def items(value: Json) -> list[Json]:
    """A list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def whole_number(value: Json, *, least: int, most: int) -> int | None:
    """A number within bounds that was written without a fraction; None for anything else."""
    # A boolean is an int to Python.
    return value if type(value) is int and least <= value <= most else None
