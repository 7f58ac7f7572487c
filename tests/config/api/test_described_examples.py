"""The OpenAPI description's examples: each required parameter and body has one, and its operation accepts it."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from jsonschema import Draft202012Validator

from config.api.openapi_examples import BODIES, PARAMETERS, add_examples
from config.api.openapi_views import openapi_document
from development.devchain.anvil import CHAIN_ID
from tests.rows.factories import DeployWalletFactory
from tests.rows.launch_requests import WALLET
from tests.rows.pictures import encoded, plain_picture

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
# Statuses for valid input: the record need not exist, and an upstream need not know the token.
ACCEPTED = (200, 201, 202, 204, 307, 404, 503)
# Operations that simulate a launch, which the recorded chain can't.
LAUNCHES = {"deployToken", "deployTokenV4", "createPretoken", "prepareLaunch"}


def described() -> Json:
    document: Json = json.loads(openapi_document())
    return document


def operations_in(document: Json) -> dict[str, tuple[str, str, Json]]:
    """Return method, path and operation by operationId."""
    return {
        operation["operationId"]: (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def examples_of(operation: Json) -> dict[str, Any]:
    """Return an operation's examples by parameter, None where one is missing; the body's as `body`."""
    needed = [entry for entry in operation.get("parameters", []) if entry.get("required") or "example" in entry]
    found = {f"{entry['in']} {entry['name']}": entry.get("example") for entry in needed}
    body = json_body(operation)
    return found if body is None else found | {"body": body.get("example")}


def json_body(operation: Json) -> Json | None:
    """Return an operation's JSON body description; None for none and for a file, which has no example."""
    found: Json | None = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return found


def missing_examples(document: Json) -> list[tuple[str, str]]:
    return [
        (name, part)
        for name, (_, _, operation) in operations_in(document).items()
        for part, example in examples_of(operation).items()
        if example is None
    ]


def test_each_required_parameter_and_body_has_an_example():
    assert missing_examples(described()) == []


def test_each_example_is_used():
    needed = {
        (name, part.rpartition(" ")[2])
        for name, (_, _, operation) in operations_in(described()).items()
        for part in examples_of(operation)
    }
    keys = {f"{name} {part}" if f"{name} {part}" in PARAMETERS else part for name, part in needed}
    assert set(PARAMETERS) == keys - {"body"}
    assert set(BODIES) == {name for name, part in needed if part == "body"}


def test_a_new_parameter_and_a_new_body_without_an_example_are_found():
    document = described()
    added = {"name": "colour", "in": "query", "required": True, "schema": {"type": "string"}}
    content = {"application/json": {"schema": {"type": "object"}}}
    document["paths"]["/api/paint"] = {
        "post": {"operationId": "paint", "parameters": [added], "requestBody": {"content": content}}
    }
    assert missing_examples(add_examples(document, None, None, True)) == [("paint", "query colour"), ("paint", "body")]


def test_each_example_has_the_shape_of_its_schema():
    document = described()
    components = {"components": document["components"]}
    for name, (_, _, operation) in operations_in(document).items():
        for entry in operation.get("parameters", []):
            if "example" in entry:
                assert Draft202012Validator(entry["schema"]).is_valid(entry["example"]), (name, entry["name"])
        content = json_body(operation)
        if content is not None:
            assert list(Draft202012Validator(content["schema"] | components).iter_errors(content["example"])) == []


def test_optional_parameters_have_none():
    found = {
        f"{name} {entry['name']}"
        for name, (_, _, operation) in operations_in(described()).items()
        for entry in operation.get("parameters", [])
        if "example" in entry and not entry.get("required")
    }
    assert found == {"toolsBlock number"}


def call_with_examples(name: str, operations: Any, callers: dict[str, dict[str, str]]) -> Any:
    """Call an operation with its examples and the first credential that it accepts; return the response."""
    method, path, operation = operations[name]
    query = {}
    for entry in operation.get("parameters", []):
        value = entry.get("example")
        if entry["in"] == "path":
            path = path.replace(f"{{{entry['name']}}}", quote(str(value), safe=""))
        elif value is not None:
            query[entry["name"]] = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    schemes = [scheme for alternative in operation.get("security", []) for scheme in alternative]
    # With an administrator's token no password is read.
    headers = callers[schemes[0]] if schemes and name != "beginAdminSession" else {}
    body = json_body(operation)
    if body is not None:
        return getattr(Client(), method)(path, body["example"], content_type="application/json", headers=headers)
    if "requestBody" in operation:
        return Client().post(path, encoded(plain_picture()), content_type="image/png", headers=headers)
    return getattr(Client(), method)(path, query, headers=headers)


def test_each_operation_accepts_its_examples(base, callers):
    operations = operations_in(described())
    refused = {}
    for name in [each for each in operations if each not in LAUNCHES]:
        answer = call_with_examples(name, operations, callers)
        # No account has the password.
        accepted = (401,) if name == "beginAdminSession" else ACCEPTED
        if answer.status_code not in accepted:
            refused[name] = answer.status_code, answer.content
    assert refused == {}


def with_unknown_fields(value: Any) -> Iterator[Any]:
    """Yield the value once for each object in it, with an unknown field in that object."""
    if isinstance(value, dict):
        yield value | {"surprise": 1}
        for name, each in value.items():
            for changed in with_unknown_fields(each):
                yield value | {name: changed}
    elif isinstance(value, list):
        for index, each in enumerate(value):
            for changed in with_unknown_fields(each):
                yield [*value[:index], changed, *value[index + 1 :]]


def test_bodies_with_unknown_fields_are_refused_where_the_description_says_so(base, callers):
    document = described()
    components, wrong, answers = {"components": document["components"]}, {}, set()
    operations = operations_in(document)
    for name in [each for each, (_, _, operation) in operations.items() if json_body(operation) is not None]:
        content = json_body(operations[name][2]) or {}
        for body in with_unknown_fields(content["example"]):
            is_closed = not Draft202012Validator(content["schema"] | components).is_valid(body)
            content["example"] = body
            answer = call_with_examples(name, operations, callers)
            answers.add(is_closed)
            if (answer.status_code == 400) is not is_closed:
                wrong[f"{name} {body}"] = answer.status_code, answer.content
    assert (wrong, answers) == ({}, {True, False})


def test_a_chain_accepts_the_examples_of_launches(launchpad, callers):
    DeployWalletFactory(chain_id=CHAIN_ID, address=WALLET)
    operations = operations_in(described())
    for name in LAUNCHES:
        content = operations[name][2]["requestBody"]["content"]["application/json"]
        text = json.dumps(content["example"])
        content["example"] = json.loads(text.replace(str(PARAMETERS["chainId"]), str(CHAIN_ID)))
        answer = call_with_examples(name, operations, callers)
        assert answer.status_code in ACCEPTED, (name, answer.content)
