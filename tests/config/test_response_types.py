"""A response's type is its JSON Schema."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

import pytest

from config.parsing.json_rules import Component
from config.parsing.response_types import Keywords, Wei, properties_schema, response_component, type_schema

SHAPE = Component("PointShape", {"type": "object"})


class Point(TypedDict):
    """A place on a line."""

    x: int
    label: NotRequired[str | None]


class Point3(Point):
    z: Annotated[float, "Meters."]


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (int | None, {"type": ["integer", "null"]}),
        (list[bool], {"type": "array", "items": {"type": "boolean"}}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number", "format": "double"}}),
        (datetime | None, {"type": ["string", "null"], "format": "date-time"}),
        (Literal["buy", "sell"], {"type": "string", "enum": ["buy", "sell"]}),
        (Literal["buy"] | None, {"type": ["string", "null"], "enum": ["buy", None]}),
        (
            Annotated[Wei | None, "Supply."],
            {"type": ["string", "null"], "pattern": "^[0-9]+$", "description": "Supply."},
        ),
        (Annotated[str, Keywords(enum=["a"]), "One."], {"type": "string", "enum": ["a"], "description": "One."}),
        (Annotated[dict[str, int], SHAPE], SHAPE),
        (Annotated[dict[str, int], SHAPE, "Where."], {"allOf": [SHAPE], "description": "Where."}),
        (Annotated[Point | None, "Where."], {
            "oneOf": [response_component(Point), {"type": "null"}],
            "description": "Where.",
        }),
    ],
)  # fmt: skip
def test_a_type_has_a_schema(hint, schema):
    assert type_schema(hint) == schema


def test_a_typed_dict_is_a_component_with_its_docstring_and_required_keys():
    assert response_component(Point) is type_schema(Point)
    assert response_component(Point).name == "Point"
    assert response_component(Point).schema == {
        "type": "object",
        "description": "A place on a line.",
        "properties": {"x": {"type": "integer"}, "label": {"type": ["string", "null"]}},
        "required": ["x"],
    }


def test_a_component_has_no_suffix():
    assert response_component(TypedDict("HoldingJson", {})).name == "Holding"


def test_inherited_and_further_properties_precede():
    schema = properties_schema(Point3, properties={"id": {"type": "string"}})
    assert list(schema["properties"]) == ["id", "x", "label", "z"]
    assert schema["required"] == ["id", "x", "z"] and "description" not in schema


@pytest.mark.parametrize("hint", [bytes, int | str, set[int], tuple[int, ...], None, Literal["a", 1]])
def test_a_type_without_a_form_in_json_is_refused(hint):
    with pytest.raises(TypeError, match="no JSON Schema"):
        type_schema(hint)
