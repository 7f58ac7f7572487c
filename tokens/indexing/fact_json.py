"""JSON for decoded launches and events, as PostgreSQL stores it and operators can read it. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from tokens.chains.types import Launch, TokenState
from tokens.indexing.metadata import MAX_JSON_TEXT

Json = dict[str, Any]

# Fields that only Solana's and declared launches set, with their value in other launches. There they are omitted, so
# that stored facts keep their shape.
_LATER: Json = {"uri": None, "curve_config": None, "next_pool": None, "nft": None, "decimals": "18"}

# Fields that name values still to be read from the launch's contracts: no facts.
_UNREAD = frozenset({"missing", "is_declared"})

# The metadata parsers reject a text with this length as too long, so later characters don't matter.
_MAX_TEXT = MAX_JSON_TEXT + 1


def launch_facts(launch: Launch) -> Json:
    """Return a launch's fields by name, without optional fields that have their default."""
    facts = _fields(launch)
    for name, usual in _LATER.items():
        if facts[name] == usual:
            del facts[name]
    return facts


def state_facts(state: TokenState) -> Json:
    """Return the state's fields that were read, by the launch's field names."""
    return {name: value for name, value in _fields(state).items() if name != "token" and value is not None}


def event_facts(values: Mapping[str, Any]) -> Json:
    """Return values by name. Integers become decimal strings, since they may have 256 bits; tuples become lists."""
    return {name: _fact(value) for name, value in values.items()}


def _fact(value: Any) -> Any:
    # Compares the type itself, which is fastest: a launch has seventy values.
    kind = type(value)
    if kind is str:
        return value[:_MAX_TEXT]
    if kind is int:
        return str(value)
    if kind is tuple or kind is list:
        return [_fact(item) for item in value]
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
    """Return a dataclass's field names, and a getter that returns all values at once.

    A getter for one field would return no tuple, but no dataclass here has only one.
    """
    names = tuple(field.name for field in fields(kind) if field.name not in _UNREAD)
    return names, attrgetter(*names)
