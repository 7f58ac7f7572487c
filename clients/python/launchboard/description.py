"""The service's own OpenAPI description, which is part of this package, as operations with their inputs."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

Json = dict[str, Any]
_STREAM = "text/event-stream"
_JSON = "application/json"
# The values of an enum, which its schema has, too.
_VALUES = re.compile(r"(?:^|\n\n)(?:\* `[^`]*` - .*(?:\n|$))+")


@dataclass(frozen=True, kw_only=True)
class Field:
    """A parameter of an operation, or a property of its body."""

    name: str
    # `path`, `query` or `body`.
    place: str
    required: bool
    schema: Json
    text: str


@dataclass(frozen=True, kw_only=True)
class Operation:
    """An operation by its id, such as `listTokens`."""

    name: str
    method: str
    path: str
    text: str
    fields: tuple[Field, ...]
    is_stream: bool
    # Media types of a body that is a file; empty for JSON and for none.
    media_types: tuple[str, ...]
    # Whether its responses have a `cursor`, null or not, in themselves or in one of their objects.
    has_cursor: bool

    @property
    def continued_by(self) -> str | None:
        """Return the parameter that takes the `cursor` of the page before; None for operations without pages."""
        names = {field.name for field in self.fields if field.place == "query" and self.has_cursor}
        return next((name for name in ("cursor", "after", "before") if name in names), None)


@cache
def continuations() -> dict[str, str]:
    """Return the parameter that continues a list, by the name of the operation's method."""
    found = {method_name(operation.name): operation.continued_by for operation in read_operations().values()}
    return {name: parameter for name, parameter in found.items() if parameter}


def method_name(operation: str) -> str:
    """Return the name of an operation's method, such as `list_tokens` for `listTokens`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", operation).lower()


def read_operations() -> dict[str, Operation]:
    """Return all operations by id, in the sequence of the description."""
    document = json.loads(files("launchboard").joinpath("openapi.json").read_bytes())
    return operations_of(document)


def operations_of(document: Mapping[str, Any]) -> dict[str, Operation]:
    """Return the operations of a description by id."""
    schemas = document["components"]["schemas"]
    return {
        operation["operationId"]: Operation(
            name=operation["operationId"],
            method=method.upper(),
            path=path,
            text=operation["description"],
            fields=(*_parameters(path, operation, schemas), *_body_fields(operation, schemas)),
            media_types=_file_types(operation),
            is_stream=_STREAM in operation["responses"].get("200", {}).get("content", {}),
            has_cursor=_has_cursor(_schema(operation["responses"].get("200", {}), schemas), schemas),
        )
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }


def _file_types(operation: Json) -> tuple[str, ...]:
    return tuple(name for name in operation.get("requestBody", {}).get("content", {}) if name != _JSON)


def _parameters(path: str, operation: Json, schemas: Json) -> list[Field]:
    """Return the parameters of the path in its sequence, and then those of the query."""
    found = [
        Field(
            name=parameter["name"],
            place=parameter["in"],
            required=parameter.get("required", False),
            schema=_described(parameter["schema"], schemas),
            text=_VALUES.sub("", parameter.get("description", "")),
        )
        for parameter in operation.get("parameters", [])
        if parameter["in"] in ("path", "query")
    ]
    return sorted(found, key=lambda field: path.find(f"{{{field.name}}}") if field.place == "path" else len(path))


def _schema(body: Json, schemas: Json) -> Json:
    """Return the schema of a body or response in JSON; empty if it has none."""
    return _resolved(body.get("content", {}).get(_JSON, {}).get("schema", {}), schemas)


def _resolved(schema: Json, schemas: Json) -> Json:
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    return schema


def _described(schema: Json, schemas: Json) -> Json:
    """Return a schema with what it takes over from others, such as the values of an enum and the description."""
    own = {**_resolved(schema, schemas)}
    parts = own.pop("allOf", [])
    return {name: value for part in parts for name, value in _resolved(part, schemas).items()} | own


def _has_cursor(schema: Json, schemas: Json) -> bool:
    properties = schema.get("properties", {})
    parts = (properties.get(name, {}) for name in ("pagination", "data"))
    return "cursor" in properties or any("cursor" in _resolved(part, schemas).get("properties", {}) for part in parts)


def _body_fields(operation: Json, schemas: Json) -> list[Field]:
    """Return the top-level properties of a body; their objects are given as JSON."""
    schema = _schema(operation.get("requestBody", {}), schemas)
    properties = {name: _described(each, schemas) for name, each in schema.get("properties", {}).items()}
    return [
        Field(
            name=name,
            place="body",
            required=name in schema.get("required", []),
            schema=each,
            text=_VALUES.sub("", each.get("description", "")),
        )
        for name, each in properties.items()
    ]
