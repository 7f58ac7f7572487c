"""JSON Schemas for tool parameters, in the subset that all large clients accept.

Some clients resolve no references and refuse `allOf`, `oneOf`, `const`, lists of types or alternatives without a type.
Sources: the function-calling guides by OpenAI, Gemini, Anthropic, Mistral and Amazon Bedrock.
"""

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

COMPONENTS = "#/components/schemas/"
# Keywords that every client accepts or ignores. One format is common to all.
KEYWORDS = frozenset(
    {
        *("type", "description", "enum", "default", "minimum", "maximum", "minLength", "maxLength", "pattern"),
        *("items", "minItems", "maxItems", "properties", "required", "additionalProperties", "anyOf"),
    }
)
_NULL: Schema = {"type": "null"}


def portable_schema(schema: Schema, components: Mapping[str, Schema]) -> Schema:
    """Return the schema with its references resolved, and with KEYWORDS only.

    Null is left out of alternatives: in arguments it counts as absent. Components must not refer to themselves.
    """
    resolved = _resolve(schema, components)
    if "const" in resolved:
        resolved["enum"] = [resolved["const"]]
    portable = {name: value for name, value in resolved.items() if name in KEYWORDS and value != ""}
    alternatives = [option for name in ("oneOf", "anyOf") for option in resolved.get(name, []) if option != _NULL]
    if len(alternatives) == 1:
        return portable_schema(alternatives[0] | _annotations(portable), components)
    if alternatives:
        portable["anyOf"] = [portable_schema(option, components) for option in alternatives]
    if isinstance(portable.get("type"), list):
        [portable["type"]] = [kind for kind in portable["type"] if kind != "null"]
    if "properties" in portable:
        properties: Mapping[str, Schema] = portable["properties"]
        portable["properties"] = {name: portable_schema(value, components) for name, value in properties.items()}
    if "items" in portable:
        portable["items"] = portable_schema(portable["items"], components)
    if isinstance(portable.get("additionalProperties"), dict):
        portable["additionalProperties"] = True
    return portable


def _resolve(schema: Schema, components: Mapping[str, Schema]) -> Schema:
    """Return the schema merged with the schemas that it refers to; its own keywords are stronger."""
    subschemas = [components[schema["$ref"].removeprefix(COMPONENTS)]] if "$ref" in schema else schema.get("allOf", [])
    merged: Schema = {}
    for subschema in subschemas:
        merged |= _resolve(subschema, components)
    return merged | {name: value for name, value in schema.items() if name not in ("$ref", "allOf")}


def _annotations(schema: Schema) -> Schema:
    return {name: schema[name] for name in ("description", "default") if name in schema}
