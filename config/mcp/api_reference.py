"""The API's OpenAPI description as Markdown: a section per endpoint, short enough for a language model."""

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from config.api.openapi_schema import SCOPE
from config.mcp.tools import read_description

Schema = Mapping[str, Any]
# Returns a schema's type in words.
Kind = Callable[[Schema], str]

_COMPONENTS = "#/components/schemas/"
# Deeper parts are only in the JSON description.
_MAX_DEPTH = 3
# A larger maximum limits no sensible value: it comes from a column, or from times.
_LARGEST_SHOWN = 10**9
# Statuses that every endpoint has; the introduction states most.
_USUAL = frozenset({"304", "400", "408", "413", "415", "429", "503"})
_INTRODUCTION = (
    "Every endpoint may respond with 429 and 503, both with `Retry-After` in seconds. Errors have one body:"
    ' `{"error": sentence}`, with `details`, a list of `field` and `message`, for invalid parameters and fields. '
)


@functools.cache
def api_reference(site_url: str) -> str:
    """Return the reference; built once per process."""
    document = read_description()
    schemas = document["components"]["schemas"]
    parts = [
        f"# API of {site_url}",
        f"{_INTRODUCTION}The whole description is {site_url}/api/openapi.json.",
        document["info"]["description"],
    ]
    described: dict[str, str] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts += _describe_operation(f"{method.upper()} {path}", operation, schemas, described)
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _describe_operation(
    name: str, operation: Schema, schemas: Mapping[str, Schema], described: dict[str, str]
) -> Iterator[str]:
    """Yield an operation's paragraphs; `described` has the first operation with each body and response."""
    yield f"## {name}"
    is_deprecated = operation.get("deprecated", False)
    yield f"{'Deprecated. ' if is_deprecated else ''}Access: {_access(operation)}."
    yield operation["description"]
    if is_deprecated:
        return
    bounded = functools.partial(_bounded_kind, schemas=schemas)
    parameters = [parameter for parameter in operation.get("parameters", []) if parameter["in"] in ("path", "query")]
    if parameters:
        yield "Parameters:"
        yield "\n".join(_parameter_line(parameter, bounded) for parameter in parameters)
    responses = operation["responses"]
    success: Schema = next((responses[status] for status in sorted(responses) if status.startswith("2")), {})
    for title, content, kind in (("Body", operation.get("requestBody", {}), bounded), ("Response", success, _kind)):
        schema = content.get("content", {}).get("application/json", {}).get("schema")
        lines = list(_property_lines(schema, schemas, kind)) if schema else []
        first = described.setdefault(f"{title} {schema.get('$ref', name)}", name) if schema and lines else name
        if first != name:
            yield f"{title}: as of `{first}`."
        elif lines:
            yield f"{title}:"
            yield "\n".join(lines)
    errors = [f"- {status}: {response['description']}" for status, response in responses.items() if _is_own(status)]
    if errors:
        yield "Further statuses:"
        yield "\n".join(errors)


def _access(operation: Schema) -> str:
    if not operation["security"]:
        return "public"
    scope = f" with the scope `{operation[SCOPE]}`" if SCOPE in operation else ""
    names = {
        "partnerKey": f"a key in the header `x-api-key`{scope}",
        "userToken": "a user's token as `Authorization: Bearer`",
        "adminSession": "an administrator's cookie",
    }
    alternatives = [[names[name] for name in requirement] or ["no credential"] for requirement in operation["security"]]
    return ", or ".join(text for alternative in alternatives for text in alternative)


def _parameter_line(parameter: Schema, kind: Kind) -> str:
    is_required = ", required" if parameter.get("required") else ""
    default = parameter["schema"].get("default")
    default_text = "" if default is None else f", default `{_as_json(default)}`"
    location = "path" if parameter["in"] == "path" else "query"
    line = f"- `{parameter['name']}` ({location}, {kind(parameter['schema'])}{is_required}{default_text})"
    return f"{line}: {_one_line(parameter['description'])}" if parameter.get("description") else line


def _property_lines(schema: Schema, schemas: Mapping[str, Schema], kind: Kind, depth: int = 0) -> Iterator[str]:
    resolved = _resolve(schema, schemas)
    if resolved.get("type") == "array":
        resolved = _resolve(resolved.get("items", {}), schemas)
    required = resolved.get("required", ())
    for name, property_schema in resolved.get("properties", {}).items():
        inner = _resolve(property_schema, schemas)
        optional = "" if name in required else ", optional"
        text = property_schema.get("description") or inner.get("description", "")
        line = f"{'  ' * depth}- `{name}` ({kind(inner)}{optional})"
        yield f"{line}: {_one_line(text)}" if text else line
        if depth + 1 < _MAX_DEPTH:
            yield from _property_lines(property_schema, schemas, kind, depth + 1)


def _resolve(schema: Schema, schemas: Mapping[str, Schema]) -> Schema:
    """Return the schema, or the component that it refers to, directly or as the only part of `allOf`."""
    parts = schema.get("allOf", ())
    reference = schema.get("$ref") or (parts[0].get("$ref") if len(parts) == 1 else None)
    return schemas[reference.removeprefix(_COMPONENTS)] if reference else schema


def _kind(schema: Schema) -> str:
    """Return a schema's type, or its values."""
    if "enum" in schema:
        return " or ".join(f"`{_as_json(value)}`" for value in schema["enum"])
    kind = schema.get("type", "value")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _bounded_kind(schema: Schema, schemas: Mapping[str, Schema]) -> str:
    """Return the kind with its bounds, and with a list's item bounds, for what a caller sends."""
    if "enum" in schema:
        return _kind(schema)
    items = _resolve(schema.get("items", {}), schemas)
    is_bounded = bool({"enum", "minimum", "maximum"} & set(items))
    parts = (_kind(schema), _bounds(schema), f"of {_bounded_kind(items, schemas)}" if is_bounded else "")
    return " ".join(filter(None, parts))


def _bounds(schema: Schema) -> str:
    """Return the limits for a number, a text's characters or an array's items; empty if there are none."""
    for unit, least, most in (("", "minimum", "maximum"), (" characters", "", "maxLength"), (" items", "", "maxItems")):
        low, high = schema.get(least), schema.get(most)
        if high is not None and high <= _LARGEST_SHOWN:
            return f"{'up to' if low is None else f'{low} to'} {high}{unit}"
        if low is not None:
            return f"from {low}"
    return ""


def _is_own(status: str) -> bool:
    return not status.startswith("2") and status not in _USUAL


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _as_json(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
