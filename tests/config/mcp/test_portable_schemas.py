"""Tool parameter schemas, in the subset that all large models' clients accept."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from config.mcp.portable_schemas import KEYWORDS, portable_schema
from config.mcp.tools import installed_tools

Schema = dict[str, Any]
KINDS = {"object", "array", "string", "integer", "number", "boolean"}
# Names must match OpenAI's and Anthropic's rules; Gemini guarantees this many levels.
NAME, MAX_LEVELS = re.compile("[a-zA-Z0-9_-]{1,64}"), 6

COMPONENTS = {
    "Kind": {"type": "string", "enum": ["a", "b"], "description": "A kind."},
    "Part": {"type": "object", "required": ["kind"], "properties": {"kind": {"$ref": "#/components/schemas/Kind"}}},
}


def parts(schema: Schema, level: int = 1) -> Iterator[tuple[Schema, int]]:
    """Yield a schema and all schemas within it, each with its level of nesting."""
    yield schema, level
    for each in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        yield from parts(each, level + 1)
    for each in schema.get("anyOf", []):
        yield from parts(each, level)


@pytest.mark.parametrize("name", [*installed_tools()])
def test_parameters_are_in_the_common_subset(name: str) -> None:
    schema: Schema = installed_tools()[name].definition["inputSchema"]
    assert NAME.fullmatch(name) and schema["type"] == "object"
    for part, level in parts(schema):
        assert set(part) <= KEYWORDS and level <= MAX_LEVELS
        assert ("anyOf" in part) is ("type" not in part)
        assert part.get("type", "object") in KINDS
        assert all(NAME.fullmatch(key) for key in part.get("properties", {}))
        assert set(part.get("required", ())) <= set(part.get("properties", ()))
        assert all(isinstance(value, str) for value in part.get("enum", ()))
        assert ("items" in part) is (part.get("type") == "array")
        assert part.get("description") != ""


@pytest.mark.parametrize(
    ("schema", "portable"),
    [
        ({"$ref": "#/components/schemas/Kind"}, COMPONENTS["Kind"]),
        (
            {"allOf": [{"$ref": "#/components/schemas/Kind"}], "description": "Own.", "default": "a"},
            {"type": "string", "enum": ["a", "b"], "description": "Own.", "default": "a"},
        ),
        (
            {"oneOf": [{"$ref": "#/components/schemas/Part"}, {"type": "null"}], "description": "Or none."},
            {
                "type": "object",
                "required": ["kind"],
                "properties": {"kind": COMPONENTS["Kind"]},
                "description": "Or none.",
            },
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        ),
        ({"type": ["integer", "null"], "format": "int64"}, {"type": "integer"}),
        ({"type": "string", "const": "x", "description": ""}, {"type": "string", "enum": ["x"]}),
        (
            {"type": "array", "items": {"$ref": "#/components/schemas/Kind"}, "maxItems": 2},
            {"type": "array", "items": COMPONENTS["Kind"], "maxItems": 2},
        ),
        ({"type": "object", "additionalProperties": {}}, {"type": "object", "additionalProperties": True}),
    ],
)
def test_a_schema_is_written_in_the_subset(schema: Schema, portable: Schema) -> None:
    assert portable_schema(schema, COMPONENTS) == portable
