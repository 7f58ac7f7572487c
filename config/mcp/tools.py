"""Tools as clients see them: parameter and result schemas, from the API's OpenAPI description."""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from config.api.openapi_schema import SCOPE
from config.api.openapi_views import openapi_document
from config.mcp.portable_schemas import COMPONENTS, portable_schema
from config.mcp.tool_table import TOOLS, ToolEntry

Schema = dict[str, Any]

_DEFINITIONS = "#/$defs/"
_REFERENCE = re.compile(r'"#/\$defs/([^"]+)"')
# Lines with values in a description, which repeat the schema's `enum`.
_VALUES = re.compile(rb'(?:\\n)*\* `[^`"\\]*` - [^"\\]*(?=\\n|")')
# Every model prompt may contain the tool list: a result schema with more bytes, as JSON, is left out.
_MAX_OUTPUT_SCHEMA = 4_096


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """A tool with the operation that it calls."""

    entry: ToolEntry
    method: str
    # With its parameters in braces.
    path: str
    path_parameters: tuple[str, ...]
    # Names of all arguments, and of the required ones. If the operation has a body, the endpoint checks both.
    arguments: tuple[str, ...]
    required: tuple[str, ...]
    has_body: bool
    # The scope that a partner's key needs; empty if no key is needed.
    scope: str
    needs_user: bool
    # Value in `tools/list`.
    definition: Mapping[str, Any]

    def is_open_to(self, scopes: Sequence[str], *, has_user_token: bool) -> bool:
        """Return whether a caller with these scopes, and with or without a user's token, may call it."""
        if self.needs_user:
            return has_user_token
        return not self.scope or self.scope in scopes


@functools.cache
def installed_tools() -> Mapping[str, Tool]:
    """Return the tools by name, in the table's sequence; built once per process."""
    document = read_description()
    schemas = document["components"]["schemas"]
    operations = {
        operation["operationId"]: (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    return {entry.name: _build_tool(entry, *operations[entry.operation], schemas) for entry in TOOLS}


def read_description() -> Schema:
    """Return the API's description without what is only for pages."""
    document: Schema = orjson.loads(_VALUES.sub(b"", openapi_document()))
    return document


def _build_tool(entry: ToolEntry, method: str, path: str, operation: Schema, schemas: Mapping[str, Schema]) -> Tool:
    in_path = tuple(re.findall(r"\{(\w+)\}", path))
    parameters = [
        parameter
        for parameter in operation.get("parameters", [])
        if parameter["in"] == "path"
        or (parameter["in"] == "query" and (not entry.parameters or parameter["name"] in entry.parameters))
    ]
    required = [
        parameter["name"]
        for parameter in parameters
        if parameter.get("required") or parameter["name"] in entry.required
    ]
    body = _json_schema(operation.get("requestBody", {}))
    if body is not None and entry.parameters:
        body = dict(schemas[body["$ref"].removeprefix(COMPONENTS)])
        body["properties"] = {name: body["properties"][name] for name in entry.parameters}
    names = {name for alternative in operation["security"] for name in alternative}
    is_open = {} in operation["security"]
    return Tool(
        entry=entry,
        method=method.upper(),
        path=path,
        path_parameters=in_path,
        arguments=tuple(parameter["name"] for parameter in parameters),
        required=tuple(required),
        has_body=body is not None,
        scope="" if is_open else operation.get(SCOPE, ""),
        needs_user=not is_open and "userToken" in names,
        definition=_define(
            entry,
            operation,
            is_read=method == "get" or entry.is_read,
            arguments=_arguments_schema(entry, parameters, required) if body is None else body,
            schemas=schemas,
        ),
    )


def _define(
    entry: ToolEntry, operation: Schema, *, is_read: bool, arguments: Schema, schemas: Mapping[str, Schema]
) -> Schema:
    results = _stand_alone(_json_schema(operation["responses"]["200"]) or {}, schemas)
    is_short = entry.describes_result and len(orjson.dumps(results)) <= _MAX_OUTPUT_SCHEMA
    return {
        "name": entry.name,
        "title": operation["summary"],
        "description": f"{entry.hint}\n\n{operation['description']}",
        "inputSchema": portable_schema(arguments, schemas),
        **({"outputSchema": results} if is_short else {}),
        "annotations": {
            "readOnlyHint": is_read,
            "destructiveHint": False,
            "idempotentHint": is_read or entry.is_idempotent,
            "openWorldHint": not is_read,
        },
    }


def _arguments_schema(entry: ToolEntry, parameters: Sequence[Schema], required: Sequence[str]) -> Schema:
    properties = {}
    for parameter in parameters:
        shape = dict(parameter["schema"])
        if parameter.get("description"):
            shape["description"] = parameter["description"]
        if parameter["name"] in entry.defaults:
            shape["default"] = entry.defaults[parameter["name"]]
        properties[parameter["name"]] = shape
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _json_schema(content: Schema) -> Schema | None:
    """Return a JSON body's schema; None without a body."""
    schema: Schema | None = content.get("content", {}).get("application/json", {}).get("schema")
    return schema


def _stand_alone(schema: Schema, schemas: Mapping[str, Schema]) -> Schema:
    """Return the schema with the components that it refers to. Its root is no reference: clients require an object."""
    name = str(schema.get("$ref", "")).removeprefix(COMPONENTS)
    root = _refer_to_definitions(schemas[name] if name else schema)
    definitions: dict[str, Schema] = {}
    names = _references(root)
    while names:
        name = names.pop()
        if name not in definitions:
            definitions[name] = _refer_to_definitions(schemas[name])
            names |= _references(definitions[name])
    return root | ({"$defs": dict(sorted(definitions.items()))} if definitions else {})


def _refer_to_definitions(schema: Schema) -> Schema:
    text = orjson.dumps(schema).replace(COMPONENTS.encode(), _DEFINITIONS.encode())
    with_definitions: Schema = orjson.loads(text)
    return with_definitions


def _references(schema: Schema) -> set[str]:
    return set(_REFERENCE.findall(orjson.dumps(schema).decode()))
