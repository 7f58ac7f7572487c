"""Tool calls: a request to the operation's own endpoint, with the caller's credentials and address.

Authentication, limits, validation and error bodies are the endpoint's, because its view runs. The request does not pass
the middleware again, nor the cache in front of it.
"""

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import orjson
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.urls import resolve
from rest_framework.exceptions import ValidationError
from rest_framework.settings import api_settings

from config.api.error_handling import error_body
from config.mcp.messages import INVALID_PARAMS, Message, refused_field
from config.mcp.tools import Tool, installed_tools
from config.parsing.json_rules import Problem, truncate_problems

# The endpoint that has counted the call sets them, for its limits and its errors.
_COPIED_HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After")
_MAX_SHOWN_NAME = 60
# In the caller's request: administrators' sessions, and the encoding of another body.
_DROPPED = ("HTTP_COOKIE", "HTTP_TRANSFER_ENCODING")
_PATH_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Valid tool call; the endpoint checks its argument values."""

    tool: Tool
    arguments: Mapping[str, Any]


def find_tool(message: Message) -> tuple[Tool, Mapping[str, Any]]:
    """Return the tool that `tools/call` names, and its arguments. Raises RpcError: unknown name, or no object."""
    name, arguments = message.params.get("name"), message.params.get("arguments", {})
    tool = installed_tools().get(name) if isinstance(name, str) else None
    if tool is None:
        raise refused_field(INVALID_PARAMS, "params.name", f"must be one of {', '.join(installed_tools())}")
    if not isinstance(arguments, dict):
        raise refused_field(INVALID_PARAMS, "params.arguments", "must be a JSON object")
    return tool, arguments


def read_call(tool: Tool, given: Mapping[str, Any]) -> ToolCall:
    """Return the call, with the tool's defaults. Raises ValidationError with the arguments that are wrong.

    An unknown name is refused, unlike an unknown query parameter: a model would take the result for filtered.
    """
    if tool.has_body:
        return ToolCall(tool, given)
    arguments = {**tool.entry.defaults, **{name: value for name, value in given.items() if value is not None}}
    problems: list[Problem] = []
    known_names = ", ".join(tool.arguments) or "none"
    for name, value in arguments.items():
        if name not in tool.arguments:
            problems.append((name[:_MAX_SHOWN_NAME] or '""', f"is not known; known are: {known_names}"))
        elif isinstance(value, dict) or (isinstance(value, list) and not all(map(_is_scalar, value))):
            problems.append((name, "must be text, a number, true or false, or a list of these"))
    problems += [(name, "is required") for name in tool.required if arguments.get(name, "") == ""]
    if problems:
        # Truncated before the framework copies them: a message can name thousands.
        whole_name = api_settings.NON_FIELD_ERRORS_KEY
        raise ValidationError({name or whole_name: [rule] for name, rule in truncate_problems(problems)})
    return ToolCall(tool, arguments)


def send_call(call: ToolCall, caller: HttpRequest) -> HttpResponse:
    """Return the operation endpoint's response to this caller."""
    tool = call.tool
    match = resolve(_PATH_PARAMETER.sub("x", tool.path))
    in_path = {name: _as_text(call.arguments[name]) for name in tool.path_parameters}
    query = {
        name: _as_text(value)
        for name, value in call.arguments.items()
        if not tool.has_body and name not in tool.path_parameters
    }
    body = json.dumps(call.arguments, ensure_ascii=False).encode() if tool.has_body else b""
    path = _PATH_PARAMETER.sub(lambda part: quote(in_path[part[1]], safe=""), tool.path)
    request = WSGIRequest(_environ(caller, tool.method, path, urlencode(query), body))
    request.resolver_match = match
    response: HttpResponse = match.func(request, **in_path)
    if hasattr(response, "render"):
        response.render()
    return response


def _environ(caller: HttpRequest, method: str, path: str, query: str, body: bytes) -> dict[str, Any]:
    environ = {name: value for name, value in caller.META.items() if name not in _DROPPED}
    return environ | {
        "REQUEST_METHOD": method,
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "CONTENT_TYPE": "application/json" if body else "",
        "CONTENT_LENGTH": str(len(body)) if body else "",
        "wsgi.input": io.BytesIO(body),
    }


def call_result(response: HttpResponse) -> dict[str, Any]:
    """Return the `tools/call` result: the response's JSON; on an error its body, its status and when to retry."""
    text = response.content.decode()
    if 200 <= response.status_code < 300:
        return _result(text) | {"structuredContent": orjson.Fragment(response.content)}
    retry = f" Retry after {response['Retry-After']} seconds." if "Retry-After" in response else ""
    return _result(text, f"HTTP status {response.status_code}.{retry}", is_error=True)


def refused_result(error: ValidationError) -> dict[str, Any]:
    """Return the result for arguments that the tool does not have, as the API's error body."""
    return _result(orjson.dumps(error_body(error, whole="arguments")).decode(), "HTTP status 400.", is_error=True)


def limit_headers(response: HttpResponse) -> dict[str, str]:
    """Return the endpoint's rate limit headers."""
    return {name: response[name] for name in _COPIED_HEADERS if name in response}


def _result(*texts: str, is_error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text} for text in texts], "isError": is_error}


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _as_text(value: Any) -> str:
    """Return an argument as a query parameter writes it."""
    if isinstance(value, list):
        return ",".join(map(_as_text, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
