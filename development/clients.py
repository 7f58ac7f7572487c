"""`make clients`: the clients' generated files, from the service's own description.

datamodel-code-generator writes Python types, openapi-typescript writes TypeScript types, openapi-to-postmanv2 writes
the collection. Our part only binds each operation to its types. Git ignores all these files (decision 292).
"""

import json
import keyword
import re
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from config.environment.variables import BASE_DIR

CLIENTS = BASE_DIR / "clients"
# All generated files, below a directory of clients. DESCRIPTION is the source of the others.
DESCRIPTION = Path("python", "launchboard", "openapi.json")
SCHEMAS = Path("python", "launchboard", "schemas.py")
OPERATIONS = Path("python", "launchboard", "operations.py")
TYPES = Path("typescript", "src", "schema.ts")
COLLECTION = Path("postman", "launchboard.postman_collection.json")
GENERATED = (DESCRIPTION, SCHEMAS, OPERATIONS, TYPES, COLLECTION)
NODE_PROGRAMS = CLIENTS / "typescript" / "node_modules" / ".bin"
_COLLECTION_WRITER = CLIENTS / "typescript" / "tools" / "postman.mjs"
# Where `make run` serves the API; clients set their own.
_SERVER = "http://127.0.0.1:8000"
_STREAM = "text/event-stream"
_JSON = "application/json"

Json = dict[str, Any]


def write_clients(target: Path, document: Json) -> None:
    """Write all generated files below a directory, from a description. Raises CalledProcessError."""
    for path in GENERATED:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
    info = document["info"] | {"contact": document["info"]["contact"] | {"url": _SERVER}}
    settled = document | {"servers": [{"url": _SERVER}], "info": info}
    (target / DESCRIPTION).write_text(json.dumps(settled, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    # A request may leave out a field with a default.
    options = ["--default-non-nullable", "false", "--output", str(target / TYPES)]
    types = [str(NODE_PROGRAMS / "openapi-typescript"), str(target / DESCRIPTION), *options]
    collection = ["node", str(_COLLECTION_WRITER), str(target / DESCRIPTION), str(target / COLLECTION)]
    with ThreadPoolExecutor() as pool:
        running = pool.map(partial(subprocess.run, check=True, stdout=subprocess.DEVNULL), (types, collection))
        _write_python(target, settled)
    list(running)
    # openapi-typescript declares files as strings.
    source = (target / TYPES).read_text(encoding="utf-8")
    (target / TYPES).write_text(re.sub(r'("image/\w+"): string;', r"\1: Blob;", source), encoding="utf-8")


def _write_python(target: Path, document: Json) -> None:
    """Write types for all schemas, and a method for each operation."""
    copied = json.loads(json.dumps(document))
    operations = [
        _bind_operation(path, method, operation, copied["components"]["schemas"])
        for path, methods in copied["paths"].items()
        for method, operation in methods.items()
    ]
    events = [_name_event(webhook["post"], copied["components"]["schemas"]) for webhook in copied["webhooks"].values()]
    _remove_formats(copied["components"])
    command = [
        *(_program("datamodel-codegen"), "--input-file-type", "openapi", "--disable-timestamp"),
        *("--output-model-type", "typing.TypedDict", "--target-python-version", "3.11"),
        *("--enum-field-as-literal", "all", "--use-schema-description"),
        *("--custom-file-header", _header(SCHEMAS), "--formatters", "builtin"),
    ]
    described = {name: copied[name] for name in ("openapi", "info", "components")} | {"paths": {}}
    (target / SCHEMAS).write_text(_formatted(_run(command, json.dumps(described)), SCHEMAS), encoding="utf-8")
    (target / OPERATIONS).write_text(_operations_module(operations, events), encoding="utf-8")


def _bind_operation(path: str, method: str, operation: Json, schemas: Json) -> str:
    """Return source code for an operation's method, and name its inline schemas among the components."""
    name = operation["operationId"]
    title = name[0].upper() + name[1:]
    parameters = operation.get("parameters", [])
    in_path = re.findall(r"{(\w+)}", path)
    query = _query_schema([parameter for parameter in parameters if parameter["in"] == "query"])
    media_types = operation.get("requestBody", {}).get("content", {})
    content = media_types.get(_JSON)
    arguments = ["self", *(f"{_snake(parameter)}: str | int" for parameter in in_path)]
    passed = []
    if in_path:
        passed.append("values={" + ", ".join(f'"{parameter}": {_snake(parameter)}' for parameter in in_path) + "}")
    if content:
        arguments.append(f"body: {_type_of(content['schema'], f'{title}Body', schemas)}")
        passed.append("body=body")
    elif media_types:
        arguments += ["body: bytes", f"media_type: Literal[{', '.join(map(json.dumps, media_types))}]"]
        passed += ["body=body", "media_type=media_type"]
    if query:
        schemas[f"{title}Query"] = query
        arguments.append(f"**query: Unpack[schemas.{title}Query]")
        passed.append("query=query")
    answer = _answer_type(operation["responses"], f"{title}Answer", schemas)
    if answer is None:
        call, answer = f'return self.stream("{path}", {", ".join(passed)})', "EventStream"
    else:
        call = f'return self.call("{method.upper()}", "{path}", {", ".join([answer, *passed])})'
        call = call if answer != "None" else call.replace(", None", ", type(None)")
    return f"def {_snake(name)}({', '.join(arguments)}) -> {answer}:\n{_docstring(operation)}\n    {call}\n"


def _query_schema(parameters: list[Json]) -> Json:
    """Return query parameters as an object; names that Python reserves, such as `from`, end in an underscore."""
    if not parameters:
        return {}
    return {
        "type": "object",
        "properties": {
            f"{parameter['name']}_" if keyword.iskeyword(parameter["name"]) else parameter["name"]: parameter["schema"]
            for parameter in parameters
        },
        "required": [parameter["name"] for parameter in parameters if parameter.get("required")],
    }


def _answer_type(responses: Json, name: str, schemas: Json) -> str | None:
    """Return a successful response's type, "None" without a body or a response; None for a stream."""
    contents: list[Json] = [response.get("content", {}) for status, response in responses.items() if status[0] == "2"]
    content = contents[0] if contents else {}
    if _STREAM in content:
        return None
    return _type_of(content[_JSON]["schema"], name, schemas) if _JSON in content else "None"


def _type_of(schema: Json, name: str, schemas: Json) -> str:
    """Return a schema's type. The schema becomes a component unless it refers to one."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
    elif name in schemas:
        raise ValueError(f"{name} is a schema of the description, too")
    else:
        schemas[name] = schema
    return f"schemas.{name}"


def _name_event(operation: Json, schemas: Json) -> str:
    """Name a webhook's body among the components, such as `TokenIndexedEvent` for `onTokenIndexed`."""
    name = f"{operation['operationId'].removeprefix('on')}Event"
    return _type_of(operation["requestBody"]["content"][_JSON]["schema"], name, schemas)


def _remove_formats(schema: Any) -> None:
    """Remove formats, because JSON values stay texts: no parser converts them to dates."""
    if isinstance(schema, dict):
        if schema.get("type") == "string" or "string" in (schema.get("type") or ()):
            schema.pop("format", None)
        for member in schema.values():
            _remove_formats(member)
    elif isinstance(schema, list):
        for member in schema:
            _remove_formats(member)


def _operations_module(operations: list[str], events: list[str]) -> str:
    methods = "\n".join(textwrap.indent(operation, "    ") for operation in operations)
    source = f'''{_header(OPERATIONS)}
from typing import Literal, Unpack

from launchboard import schemas
from launchboard.connection import Connection
from launchboard.event_streams import EventStream

WebhookEvent = {" | ".join(events)}


class Operations(Connection):
    """The operations of the API. Each raises as `call`."""

{methods}'''
    return _formatted(source, OPERATIONS)


def _formatted(source: str, path: Path) -> str:
    """Return a source as `ruff format` writes the file."""
    return _run([_program("ruff"), "format", "--quiet", "--stdin-filename", str(CLIENTS / path), "-"], source)


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def _run(command: list[str], text: str) -> str:
    """Return a program's output for an input. Raises CalledProcessError."""
    return subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.PIPE, cwd=BASE_DIR).stdout


def _header(path: Path) -> str:
    return (
        f'"""Generated by `make clients`: {"types" if path == SCHEMAS else "methods"} of the API\'s description."""\n'
    )


def _docstring(operation: Json) -> str:
    text = operation["description"].replace("\\", "\\\\").replace('"""', "'''")
    paragraphs = [
        textwrap.fill(paragraph, 112) if "\n-" not in f"\n{paragraph}" else paragraph
        for paragraph in text.split("\n\n")
    ]
    quoted = f'"""{chr(10).join(f"{paragraph}{chr(10)}" for paragraph in paragraphs).rstrip()}'
    return textwrap.indent(quoted + ('\n"""' if "\n" in quoted else '"""'), "    ")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
