"""Requests of the Model Context Protocol, written by hand: the client library sends only valid ones."""

import json
from typing import Any

from django.test import Client

URL = "/mcp"
VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
# One for all, since each client constructs all middleware.
CLIENT = Client()


def message(method: str, *, meta: Any = META, **params: Any) -> dict[str, Any]:
    """Return a request; `meta` None is left out."""
    return {
        "jsonrpc": "2.0",
        "id": 7,
        "method": method,
        "params": params if meta is None else params | {"_meta": meta},
    }


def metadata_headers(method: str, name: str | None = None, version: str = VERSION) -> dict[str, str]:
    """Return the headers that repeat the body's method and the tool's name."""
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": method}
    return headers if name is None else headers | {"Mcp-Name": name}


def send(body: Any, headers: dict[str, str] | None = None, **options: Any) -> Any:
    """Post a body, which is encoded as JSON unless it is bytes."""
    data = body if isinstance(body, bytes) else json.dumps(body)
    return CLIENT.post(URL, data, **{"content_type": "application/json", "headers": headers or {}} | options)


def request(method: str, headers: dict[str, str] | None = None, **params: Any) -> Any:
    """Send a valid request without a handshake, and return the response."""
    return send(message(method, **params), metadata_headers(method, params.get("name")) | (headers or {}))


def call(tool: str, headers: dict[str, str] | None = None, **arguments: Any) -> Any:
    """Call a tool and return the HTTP response."""
    return request("tools/call", headers, name=tool, arguments=arguments)


def result(response: Any) -> Any:
    """Return the result of a successful request."""
    body = response.json()
    assert (response.status_code, set(body), body["id"]) == (200, {"jsonrpc", "id", "result"}, 7), body
    return body["result"]


def error(response: Any) -> tuple[int, int, str]:
    """Return the HTTP status, the code and the message of an error."""
    body = response.json()
    assert body["jsonrpc"] == "2.0" and set(body) <= {"jsonrpc", "id", "error"}, body
    return response.status_code, body["error"]["code"], body["error"]["message"]
