"""What the chain said, as JSON that PostgreSQL keeps and an operator can read. Pure."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from tokens.chains.base import Launch
from tokens.metadata import MAX_JSON_TEXT

Json = dict[str, Any]

# So long a text is read as one that is too long, and nothing of the rest would matter.
_MAX_TEXT = MAX_JSON_TEXT + 1


def launch_facts(launch: Launch) -> Json:
    """The fields of a launch by their names."""
    return event_facts(asdict(launch))


def event_facts(values: Mapping[str, Any]) -> Json:
    """Values by their names: whole numbers become decimal strings, since they may have 256 bits, tuples lists."""
    return {name: _fact(value) for name, value in values.items()}


def _fact(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_MAX_TEXT]
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, Mapping):
        return event_facts(value)
    if isinstance(value, list | tuple):
        return [_fact(part) for part in value]
    return value
