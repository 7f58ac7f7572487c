"""`launchboard`: each operation of the API as a command, and short names for the usual ones.

Commands, options and their help come from the description.
"""

import argparse
import difflib
import json
import logging
import mimetypes
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from urllib3.exceptions import HTTPError

from launchboard.connection import Connection
from launchboard.description import Field, Operation, read_operations
from launchboard.errors import LaunchboardError
from launchboard.pages import walk_pages
from launchboard.tables import as_text

# Short names, each with its operation and with the optional fields that are given without a name.
SHORT_NAMES = {
    "search": ("listTokens", ("q",)),
    "list": ("listTokens", ()),
    "token": ("getToken", ()),
    "trades": ("listTrades", ()),
    "candles": ("listCandles", ()),
    "trending": ("listTrending", ()),
    "marketcap": ("getMarketCap", ("tokenAddress",)),
    "integrity": ("getTokenIntegrity", ()),
    "creator": ("getCreator", ()),
    "index": ("indexTransaction", ("txHash", "chainId")),
    "deploy": ("deployToken", ()),
    "status": ("getDeployStatus", ()),
    "events": ("listEvents", ()),
    "stream": ("streamTokens", ()),
}
_WHOLE_BODY = "whole body"
_FILE = "file"


class _Parser(argparse.ArgumentParser):
    """Parser that names the choice most like an unknown word, not all of over a hundred."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and the message."""
        found = re.fullmatch(r"(.*invalid choice: '(.*)') \(choose from (.*)\)", message, re.S)
        if found:
            similar = difflib.get_close_matches(found[2], re.findall(r"[\w-]+", found[3]), n=1)
            message = f"{found[1]} ({f'did you mean {similar[0]}?' if similar else 'see --help'})"
        super().error(message)


class UsageError(Exception):
    """A value of the command line that can't be used."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Return 0, 1 for an error response or none, and 2 for a value that can't be used."""
    operations = read_operations()
    options = vars(make_parser(operations).parse_args(arguments))
    # Of a closed file descriptor, which the first connection would get. Else a call has an effect without output.
    if sys.stdout is None:
        return _fail("standard output: closed")
    # Of long waits before another attempt.
    logging.basicConfig(format="launchboard: %(message)s")
    logging.getLogger("launchboard").setLevel(logging.INFO)
    try:
        for answer in _answers(operations[options["operation"]], options):
            print(_as_json(answer) if options["json"] else as_text(answer), flush=True)
    except UsageError as error:
        return _fail(str(error), status=2)
    except LaunchboardError as error:
        return _fail(_as_json(error.body) if options["json"] and error.body else _sentence(error))
    except HTTPError as error:
        return _fail(f"no response from {options['server']}: {error}")
    except KeyboardInterrupt:
        return 130
    except (OSError, UnicodeEncodeError) as error:
        # The interpreter would fail to flush at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # A reader, such as `head`, may have enough.
        return 0 if isinstance(error, BrokenPipeError) else _fail(f"standard output: {error}")
    return 0


def _fail(text: str, *, status: int = 1) -> int:
    print(text if text.startswith("{") else f"launchboard: {text}", file=sys.stderr)
    return status


def _sentence(error: LaunchboardError) -> str:
    details = "".join(f"\n  {each['field']}: {each['message']}" for each in error.body.get("details", []))
    wait = f" (retry after {error.retry_after:.0f} s)" if error.retry_after else ""
    return f"{error}{wait}{details}"


def make_parser(operations: Mapping[str, Operation]) -> argparse.ArgumentParser:
    """Return the parser with a command for each operation."""
    parser = _Parser(
        "launchboard", description="Calls the HTTP API of Launchboard.", parents=[_shared_options(suppress=False)]
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for short, (name, unnamed) in SHORT_NAMES.items():
        _add_command(commands, short, operations[name], unnamed=unnamed)
    for operation in operations.values():
        _add_command(commands, _with_hyphens(operation.name), operation, unnamed=())
    return parser


def _shared_options(*, suppress: bool) -> argparse.ArgumentParser:
    """Return options that are accepted before and after the command; those after it have no defaults."""
    parser = argparse.ArgumentParser(add_help=False)

    def add(option: str, default: Any, text: str, **more: Any) -> None:
        parser.add_argument(option, default=argparse.SUPPRESS if suppress else default, help=text, **more)

    environment = os.environ.get
    add("--json", False, "print the response's JSON, each page on one line", action="store_true")
    add("--server", environment("LAUNCHBOARD_URL", "http://127.0.0.1:8000"), "URL; default: LAUNCHBOARD_URL")
    add("--api-key", environment("LAUNCHBOARD_KEY", ""), "partner key; default: LAUNCHBOARD_KEY")
    add("--user-token", environment("LAUNCHBOARD_USER_TOKEN", ""), "user's JWT; default: LAUNCHBOARD_USER_TOKEN")
    return parser


def _add_command(commands: Any, name: str, operation: Operation, *, unnamed: Sequence[str]) -> None:
    summary = re.split(r"\.(?:\s|$)", operation.text, maxsplit=1)[0].replace("%", "%%")
    command = commands.add_parser(
        name,
        help=summary,
        description=operation.text.replace("%", "%%"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_shared_options(suppress=True)],
    )
    command.set_defaults(operation=operation.name)
    for field in operation.fields:
        text = _help_of(field)
        if field.place == "path" or field.name in unnamed:
            command.add_argument(_destination(field), metavar=field.name, help=text)
        else:
            is_required = field.required and field.place == "query"
            option = f"--{_with_hyphens(field.name)}"
            metavar = "JSON" if field.place == "body" and field.schema.get("type") in ("object", "array") else "VALUE"
            command.add_argument(option, dest=_destination(field), metavar=metavar, help=text, required=is_required)
    if any(field.place == "body" for field in operation.fields):
        command.add_argument("--body", dest=_WHOLE_BODY, metavar="JSON", help="whole body: JSON, or @FILE, or @-")
    if operation.media_types:
        command.add_argument(_FILE, metavar="FILE", help=f"path of a file: {', '.join(operation.media_types)}")
    if operation.continued_by:
        command.add_argument("--all", action="store_true", help="print all pages")


def _help_of(field: Field) -> str:
    """Return the text of a field, with its values and whether it is required."""
    values = f"One of {', '.join(map(str, field.schema['enum']))}." if "enum" in field.schema else ""
    places = {"query": "Required.", "body": "Required, here or in --body."}
    required = places.get(field.place, "") if field.required else ""
    return " ".join(filter(None, (required, field.text, values))).replace("%", "%%")


def _destination(field: Field) -> str:
    return f"{field.place} {field.name}"


def _with_hyphens(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name.replace("_", "-")).lower()


def _answers(operation: Operation, options: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the response, each of its pages with `--all`, or each event of a stream. Raises UsageError."""
    given = [(field, options[_destination(field)]) for field in operation.fields]
    values, query, body = (
        {field.name: _parse(field, text) for field, text in given if field.place == place and text is not None}
        for place in ("path", "query", "body")
    )
    if options.get(_WHOLE_BODY) is not None:
        body = _read_body(options[_WHOLE_BODY]) | body
    content, media_type = _read_file(operation, options[_FILE]) if operation.media_types else (None, "")
    if not options["json"] and any(field.name == "includeMarket" for field in operation.fields):
        # For the market caps of the table.
        query = {"includeMarket": "true"} | query
    has_body = any(field.place == "body" for field in operation.fields)
    try:
        json.dumps([values, query, body], ensure_ascii=False).encode()
        connection = Connection(options["server"], key=options["api_key"], user_token=options["user_token"])
    except UnicodeEncodeError as error:
        raise UsageError("all arguments must be UTF-8") from error
    except ValueError as error:
        raise UsageError(str(error)) from error
    with connection:
        if operation.is_stream:
            yield from connection.stream(operation.path, query=query)
            return

        def fetch(cursors: dict[str, Any]) -> dict[str, Any]:
            return connection.call(
                operation.method, operation.path, dict[str, Any], values=values, query=query | cursors,
                body=body if has_body else content, media_type=media_type,
            )  # fmt: skip

        if options.get("all"):
            yield from walk_pages(fetch, str(operation.continued_by))
        else:
            yield fetch({})


def _parse(field: Field, text: str) -> Any:
    """Return a value of a body as its schema has it; those of paths and queries are texts anyway."""
    if field.place != "body" or field.schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _read_body(text: str) -> dict[str, Any]:
    try:
        if text.startswith("@"):
            text = sys.stdin.read() if text == "@-" else Path(text[1:]).read_text(encoding="utf-8")
        body = json.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(f"--body: {error}") from error
    if not isinstance(body, dict):
        raise UsageError("--body: must be a JSON object")
    return body


def _read_file(operation: Operation, path: str) -> tuple[bytes, str]:
    """Return the bytes of a file, and the media type of its name."""
    media_type = mimetypes.guess_type(path)[0]
    if media_type not in operation.media_types:
        raise UsageError(f"{path}: must be one of {', '.join(operation.media_types)}")
    try:
        return Path(path).read_bytes(), media_type
    except OSError as error:
        raise UsageError(f"{path}: {error}") from error


def _as_json(answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
