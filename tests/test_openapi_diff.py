"""Comparison of two OpenAPI descriptions."""

from tests.openapi_diff import differences

BEFORE = {
    "paths": {"/a": {"get": {"summary": "x", "description": "y", "parameters": [{"name": "limit", "in": "query"}]}}},
    "components": {"schemas": {"Token": {"properties": {"description": {"type": "string", "description": "Text."}}}}},
}


def test_prose_makes_no_difference():
    after = {
        "paths": {
            "/a": {"get": {"summary": "z", "tags": ["tokens"], "parameters": [{"name": "limit", "in": "query"}]}}
        },
        "components": {"schemas": {"Token": {"properties": {"description": {"type": "string"}}}}},
    }
    assert list(differences(BEFORE, after)) == []


def test_fields_parameters_and_paths_do():
    after = {
        "paths": {"/a": {"get": {"parameters": [{"name": "count", "in": "query"}]}}, "/b": {}},
        "components": {"schemas": {"Token": {"properties": {}}}},
    }
    assert list(differences(BEFORE, after)) == [
        "/components/schemas/Token/properties/description: removed",
        '/paths//a/get/parameters/0/name: "limit" -> "count"',
        "/paths//b: added",
    ]
