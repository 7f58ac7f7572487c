"""Generated clients: operations, texts, examples and credentials of the description, in packages with its version."""

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from launchboard import Operations
from launchboard.description import method_name, operations_of, read_operations

from config.api.openapi_views import openapi_document
from config.environment.variables import BASE_DIR
from development.clients import CLIENTS, COLLECTION, DESCRIPTION, GENERATED, write_clients
from tests.prose import replaced_words
from tests.test_architecture import MAX_LINES

Json = dict[str, Any]

VERSION = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]


@pytest.fixture(scope="module")
def document() -> Json:
    description: Json = json.loads(openapi_document())
    return description


def test_a_change_of_the_description_changes_each_file(document: Json, tmp_path: Path) -> None:
    changed = json.loads(json.dumps(document))
    parameter = {"in": "query", "name": "colour", "schema": {"type": "string"}, "description": "A color."}
    changed["paths"]["/api/tokens"]["get"]["parameters"].append(parameter)
    changed["paths"]["/api/tokens"]["get"]["description"] += " In color."
    write_clients(tmp_path, changed)
    assert [path for path in GENERATED if (CLIENTS / path).read_bytes() == (tmp_path / path).read_bytes()] == []


def test_each_operation_is_a_method_with_its_text(document: Json) -> None:
    operations = operations_of(document)
    assert read_operations() == operations, "run `make clients`"
    methods = {name for name, each in vars(Operations).items() if callable(each) and not name.startswith("_")}
    assert methods == {method_name(name) for name in operations}
    assert all(getattr(Operations, name).__doc__ for name in methods)


def requests_of(part: Json) -> Iterator[Json]:
    """Yield each request in a collection."""
    for item in part.get("item", []):
        yield from requests_of(item)
    if "request" in part:
        yield part["request"]


def name_of(request: Json) -> tuple[str, str]:
    """Return a request's method and path."""
    return request["method"], "/".join(request["url"]["path"])


@pytest.fixture
def collection() -> Json:
    made: Json = json.loads((CLIENTS / COLLECTION).read_text())
    return made


def test_the_collection_has_each_operation(document: Json, collection: Json) -> None:
    described = {
        (method.upper(), path.strip("/").replace("{", ":").replace("}", ""))
        for path, methods in document["paths"].items()
        for method in methods
    }
    assert {name_of(each) for each in requests_of(collection)} == described


def test_the_collection_declares_its_variables(collection: Json) -> None:
    used = set(re.findall(r"{{(.*?)}}", json.dumps(collection["item"])))
    assert [variable["key"] for variable in collection["variable"]] == ["baseUrl", "apiKey", "bearerToken"]
    assert used == {"baseUrl", "apiKey", "bearerToken"}


def operation_of(document: Json, request: Json) -> Json:
    """Return a request's described operation."""
    method, path = name_of(request)
    operation: Json = document["paths"]["/" + re.sub(r":(\w+)", r"{\1}", path)][method.lower()]
    return operation


def as_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def test_requests_of_the_collection_send_the_examples_only(document: Json, collection: Json) -> None:
    for request in requests_of(collection):
        operation = operation_of(document, request)
        parameters = operation.get("parameters", [])
        examples = {entry["name"]: as_text(entry["example"]) for entry in parameters if "example" in entry}
        parts = [*request["url"].get("query", []), *request["url"].get("variable", [])]
        assert {part["key"]: part["value"] for part in parts if not part.get("disabled")} == examples
        optional = [part for part in [*parts, *request["header"]] if part.get("disabled")]
        assert {part["value"] for part in optional} <= {""}
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            assert json.loads(request["body"]["raw"]) == content["application/json"]["example"]
        else:
            assert request.get("body", {}) == ({"mode": "file", "file": {}} if content else {})


def test_requests_of_the_collection_have_their_credential(document: Json, collection: Json) -> None:
    kinds = {"partnerKey": "apikey", "userToken": "bearer", "adminSession": "noauth"}
    for request in requests_of(collection):
        described = operation_of(document, request)
        schemes = [scheme for alternative in described.get("security", []) for scheme in alternative]
        auth = request.get("auth") or {"type": None}
        assert auth["type"] == (kinds[schemes[0]] if schemes else None), name_of(request)
        if auth["type"] == "apikey":
            header = {part["key"]: part["value"] for part in auth["apikey"]}
            assert header == {"key": "x-api-key", "value": "{{apiKey}}", "in": "header"}


def test_packages_have_the_version_of_the_service() -> None:
    python = tomllib.loads((CLIENTS / "python" / "pyproject.toml").read_text())["project"]
    typescript = json.loads((CLIENTS / "typescript" / "package.json").read_text())
    lock = json.loads((CLIENTS / "typescript" / "package-lock.json").read_text())
    described = json.loads((CLIENTS / DESCRIPTION).read_text())["info"]["version"]
    assert {python["version"], typescript["version"], lock["version"], described} == {VERSION}


def test_the_package_for_python_has_the_description_and_the_command(tmp_path: Path) -> None:
    uv = str(Path(sys.executable).with_name("uv"))
    # Its own backend builds the package, without a download.
    command = [uv, "build", "--quiet", "--offline", "--wheel", "--out-dir", str(tmp_path), str(CLIENTS / "python")]
    subprocess.run(command, check=True)
    [wheel] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        assert {"launchboard/openapi.json", "launchboard/py.typed"} <= set(files.namelist())
        [entry_points] = [name for name in files.namelist() if name.endswith("/entry_points.txt")]
        assert b"launchboard = launchboard.command_line:main" in files.read(entry_points)


def test_modules_of_ours_keep_the_rules_of_the_tree() -> None:
    generated = {CLIENTS / path for path in GENERATED}
    own = [path for path in (CLIENTS / "python" / "launchboard").glob("*.py") if path not in generated]
    sources = {path.name: path.read_text() for path in own}
    assert {name: replaced_words(source) for name, source in sources.items() if replaced_words(source)} == {}
    assert [name for name, source in sources.items() if source.count("\n") > MAX_LINES] == []
