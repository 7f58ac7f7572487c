"""Every operation's pages with a cursor in its description, walked with both clients."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from launchboard import Launchboard, pages
from launchboard.description import method_name

from development.clients import CLIENTS, DESCRIPTION
from development.standins.loopback import Reply
from tests.clients.scripted_server import ScriptedServer, scripted_server
from tests.clients.typescript_package import run_program

Json = dict[str, Any]
DOCUMENT: Json = json.loads((CLIENTS / DESCRIPTION).read_text())
# Operations with a cursor that are no lists.
NO_LISTS = {"replayWebhook"}
CURSOR = re.compile("cursor|^(after|before)$", re.IGNORECASE)
EXAMPLES = {"integer": 1, "string": "x", "array": [1]}


def resolved(schema: Json) -> Json:
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def answer_of(operation: Json) -> Json:
    content = operation["responses"].get("200", {}).get("content", {})
    return resolved(content.get("application/json", {}).get("schema", {}))


def names_of(schema: Json, depth: int = 4) -> Iterator[str]:
    """Yield the names in a schema's properties, nested ones included."""
    for name, each in resolved(schema).get("properties", {}).items():
        yield name
        if depth:
            yield from names_of(resolved(each).get("items", each), depth - 1)


def cursor_parameters(operation: Json) -> set[str]:
    return {each["name"] for each in operation.get("parameters", []) if CURSOR.search(each["name"])}


# Operation id -> path, and the operation.
WITH_CURSORS = {
    operation["operationId"]: (path, operation)
    for path, methods in DOCUMENT["paths"].items()
    for operation in methods.values()
    if cursor_parameters(operation) or any(map(CURSOR.search, names_of(answer_of(operation))))
}
LISTS = {name: found for name, found in WITH_CURSORS.items() if name not in NO_LISTS}


def page_of(schema: Json, cursor: int | None) -> Json:
    """Return a response with an entry in each list, and this cursor for each one in the schema."""
    page: Json = {}
    for name, each in schema.get("properties", {}).items():
        part = resolved(each)
        if CURSOR.search(name):
            page[name] = cursor
        elif part.get("type") == "array":
            page[name] = [{}]
        elif "properties" in part:
            page[name] = page_of(part, cursor)
    return page


def script_of(operation: Json) -> list[Reply | None]:
    return [Reply(json.dumps(page_of(answer_of(operation), cursor)).encode()) for cursor in (7, None)]


def required(operation: Json, place: str) -> Json:
    parameters = [each for each in operation["parameters"] if each["in"] == place and each.get("required")]
    return {
        each["name"]: each["schema"].get("enum", [EXAMPLES[resolved(each["schema"])["type"]]])[0] for each in parameters
    }


def assert_followed(server: ScriptedServer, name: str, place: int) -> None:
    """Compare the requests in an operation's walk, from this place on."""
    first, second = (parse_qs(urlsplit(request.path).query) for request in server.requests[place : place + 2])
    wanted = {parameter: ["7"] for parameter in cursor_parameters(LISTS[name][1])}
    assert wanted and second == first | wanted, name


@pytest.mark.parametrize("name", LISTS)
def test_python_follows_each_cursor(name: str) -> None:
    path, operation = LISTS[name]
    inputs = required(operation, "path")
    positional = [inputs[each] for each in re.findall(r"{(\w+)}", path)]
    with scripted_server(*script_of(operation)) as server, Launchboard(server.url) as api:
        walk = pages(getattr(api, method_name(name)), *positional, **required(operation, "query"))
        assert len(list(walk)) == 2
        assert_followed(server, name, 0)


def test_typescript_follows_each_cursor(typescript: Path) -> None:
    code = 'import { launchboard, pages } from "launchboard-client";\n'
    code += 'const api = launchboard(process.env.SERVER ?? "");\nlet count = 0;\n'
    for path, operation in LISTS.values():
        followed = sorted(cursor_parameters(operation))
        query = ", ".join([json.dumps(required(operation, "query"))[1:-1] or "...{}", *followed])
        inputs = f"{{ params: {{ path: {json.dumps(required(operation, 'path'))}, query: {{ {query} }} }} }}"
        inputs = inputs if "{" in path else inputs.replace("path: {}, ", "")
        walk = f"pages(({', '.join(followed)}) => api.GET({json.dumps(path)}, {inputs}))"
        code += f"for await (const page of {walk}) count += page ? 1 : 0;\n"
    script = [reply for _, operation in LISTS.values() for reply in script_of(operation)]
    with scripted_server(*script) as server:
        assert run_program(f"{code}console.log(count);", typescript, SERVER=server.url) == f"{2 * len(LISTS)}\n"
        for number, name in enumerate(LISTS):
            assert_followed(server, name, 2 * number)


def creator_page(launches: list[int], cursor: str | None, recipients: list[int], second: str | None) -> Reply:
    lists = {"launches": launches, "cursor": cursor, "recipientOf": recipients, "recipientCursor": second}
    return Reply(json.dumps({"data": {"totals": {}, **lists}}).encode())


# The second list is longer; without its cursor the first one begins again.
CREATOR = [
    creator_page([1, 2], "b", [1, 2], "k"),
    creator_page([3], None, [3, 4], "l"),
    creator_page([1, 2], "b", [5], None),
]
CREATOR_PATHS = [f"/api/creators/7{query}" for query in ("", "?cursor=b&recipientCursor=k", "?recipientCursor=l")]
_CREATOR_WALK = """
import { launchboard, pages } from "launchboard-client";
const api = launchboard(process.env.SERVER ?? "");
const walk = pages((cursor, recipientCursor) =>
  api.GET("/api/creators/{creator}", { params: { path: { creator: "7" }, query: { cursor, recipientCursor } } }));
for await (const { data } of walk) console.log(JSON.stringify([data.launches, data.recipientOf]));
"""
EACH_ONCE = [[[1, 2], [1, 2]], [[3], [3, 4]], [[], [5]]]


def test_each_entry_of_two_lists_comes_once_in_python() -> None:
    with scripted_server(*CREATOR) as server, Launchboard(server.url) as api:
        found = [page["data"] for page in pages(api.get_creator, "7")]
        assert [[each["launches"], each["recipientOf"]] for each in found] == EACH_ONCE
        assert [request.path for request in server.requests] == CREATOR_PATHS


def test_each_entry_of_two_lists_comes_once_in_typescript(typescript: Path) -> None:
    with scripted_server(*CREATOR) as server:
        output = run_program(_CREATOR_WALK, typescript, SERVER=server.url)
        assert [json.loads(line) for line in output.splitlines()] == EACH_ONCE
        assert [request.path for request in server.requests] == CREATOR_PATHS
