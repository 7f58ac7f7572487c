"""JSON Schemas for the types of responses: the dicts that a view returns are described by what the type checker checks.

A response is a TypedDict. Its class name is the component's name, its docstring the description. If another class has
that name, such as the dataclass or model that the response describes, the TypedDict takes the suffix `Json`. The
component has no suffix: the component of `HoldingJson` is `Holding`.

`Annotated` adds to a key's type: a text is its description, `Keywords` are further keywords of JSON Schema, a rule's
`Component` replaces the type's schema.
"""

import typing
from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, get_type_hints, is_typeddict
from uuid import UUID

from config.parsing.json_rules import Component, Schema


class Keywords:
    """Keywords of JSON Schema, for `Annotated`."""

    def __init__(self, **schema: Any) -> None:
        self.schema = schema


Timestamp = Annotated[str, Keywords(format="date-time")]
Day = Annotated[str, Keywords(format="date")]
# Amount in the smallest unit, in decimal digits, which JavaScript can't round.
Wei = Annotated[str, Keywords(pattern="^[0-9]+$")]

_BASIC: Mapping[Any, Schema] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number", "format": "double"},
    str: {"type": "string"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    UUID: {"type": "string", "format": "uuid"},
    Any: {},
}


def type_schema(hint: Any) -> Schema | Component:
    """Return the schema for a type in a response. Raises TypeError for a type without a form in JSON."""
    if is_typeddict(hint):
        return response_component(hint)
    if hint in _BASIC:
        return dict(_BASIC[hint])
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.NotRequired:
        return type_schema(arguments[0])
    if origin is Annotated:
        return _annotated(arguments[0], arguments[1:])
    if origin is Literal and all(isinstance(value, str) for value in arguments):
        return {"type": "string", "enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": type_schema(arguments[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": type_schema(arguments[1])}
    if origin in (typing.Union, UnionType) and len(arguments) == 2 and arguments[1] is NoneType:
        return _nullable(type_schema(arguments[0]))
    raise TypeError(f"no JSON Schema for {hint}")


@cache
def response_component(response: Any) -> Component:
    """Return the component for a TypedDict. Inherited keys precede its own."""
    return Component(response.__name__.removesuffix("Json"), properties_schema(response))


def properties_schema(response: Any, *, properties: Mapping[str, Schema | Component] | None = None) -> Schema:
    """Return the object schema for a TypedDict, after `properties`, which are required."""
    schemas = dict(properties or {})
    required = sorted({*response.__required_keys__, *schemas})
    schemas |= {name: type_schema(hint) for name, hint in get_type_hints(response, include_extras=True).items()}
    description = {"description": " ".join(response.__doc__.split())} if response.__doc__ else {}
    schema = {"type": "object", **description, "properties": schemas}
    return schema | ({"required": required} if required else {})


def open_object_schema(
    properties: Mapping[str, Schema], optional: Mapping[str, Schema] = MappingProxyType({})
) -> Schema:
    """Return the schema for an object that always has `properties`, may have the `optional` ones, and may get more."""
    return {"type": "object", "required": [*properties], "properties": {**properties, **optional}}


def _annotated(hint: Any, notes: tuple[Any, ...]) -> Schema | Component:
    components = [note for note in notes if isinstance(note, Component)]
    schema = components[0] if components else type_schema(hint)
    keywords: Schema = {}
    for note in notes:
        if isinstance(note, str):
            keywords["description"] = note
        elif isinstance(note, Keywords):
            keywords |= note.schema
    if not keywords:
        return schema
    return {"allOf": [schema], **keywords} if isinstance(schema, Component) else schema | keywords


def _nullable(schema: Schema | Component) -> Schema:
    if isinstance(schema, Component) or "type" not in schema:
        return {"oneOf": [schema, {"type": "null"}]}
    enum = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return schema | {"type": [schema["type"], "null"]} | enum
