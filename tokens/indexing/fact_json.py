"""What the chain said, as JSON that PostgreSQL keeps and an operator can read. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from tokens.chains.types import Launch
from tokens.indexing.metadata import MAX_JSON_TEXT

Json = dict[str, Any]

# What launches have on Solana alone, and on other chains as here: facts of these keep the shape that they always had.
_LATER: Json = {"uri": None, "decimals": "18"}

# So long a text is read as one that is too long, and nothing of the rest would matter.
_MAX_TEXT = MAX_JSON_TEXT + 1


def launch_facts(launch: Launch) -> Json:
    """The fields of a launch by their names, without those that say what was true of all before there were any."""
    facts = _fields(launch)
    for name, usual in _LATER.items():
        if facts[name] == usual:
            del facts[name]
    return facts


def event_facts(values: Mapping[str, Any]) -> Json:
    """Values by their names: whole numbers become decimal strings, since they may have 256 bits, tuples lists."""
    return {name: _fact(value) for name, value in values.items()}


def _fact(value: Any) -> Any:
    # By the type itself, which is the quickest question: a launch has seventy values.
    kind = type(value)
    if kind is str:
        return value[:_MAX_TEXT]
    if kind is int:
        return str(value)
    if kind is tuple or kind is list:
        return [_fact(part) for part in value]
    if value is None or kind is bool:
        return value
    if is_dataclass(value):
        return _fields(value)
    return event_facts(value) if isinstance(value, Mapping) else value


def _fields(value: Any) -> Json:
    names, read = _reader(value.__class__)
    return dict(zip(names, map(_fact, read(value)), strict=True))


@cache
def _reader(kind: Any) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    """The names of a dataclass's fields, and what gives all their values at once; no dataclass has only one."""
    names = tuple(field.name for field in fields(kind))
    return names, attrgetter(*names)
