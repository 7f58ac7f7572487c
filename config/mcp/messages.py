"""Messages of the Model Context Protocol (MCP): one JSON-RPC 2.0 request or notification, and its errors.

Source: the specification, "Messages" and "Error Codes", revision 2026-07-28.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework.exceptions import APIException

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022

# Bounds for what errors and responses repeat.
MAX_METHOD, MAX_ID = 100, 255

MessageId = str | int


class RpcError(APIException):
    """JSON-RPC error with its code and data; `status_code` is the response's HTTP status."""

    def __init__(self, code: int, message: str, *, status: int = 400, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.rpc_code, self.message, self.status_code, self.data = code, message, status, dict(data or {})


def refused_field(code: int, field: str, rule: str) -> RpcError:
    """Return the error for one field, which its message and its data name together with the broken rule."""
    return RpcError(code, f"{field} {rule}", data={"details": [{"field": field, "message": rule}]})


@dataclass(frozen=True, slots=True)
class Message:
    """Request, or notification if it has no id."""

    method: str
    params: Mapping[str, Any]
    message_id: MessageId | None

    @property
    def meta(self) -> Mapping[str, Any]:
        """Return the request's metadata."""
        meta: Mapping[str, Any] = self.params.get("_meta", {})
        return meta


def parse_message(body: Any) -> Message:
    """Return the message in a parsed JSON body. Raises RpcError with the field and the rule."""
    if isinstance(body, list):
        raise refused_field(INVALID_REQUEST, "body", "must be one JSON-RPC message; batches are not accepted")
    if not isinstance(body, dict):
        raise refused_field(INVALID_REQUEST, "body", "must be a JSON object")
    if body.get("jsonrpc") != "2.0":
        raise refused_field(INVALID_REQUEST, "jsonrpc", 'must be "2.0"')
    if "method" not in body and ("result" in body or "error" in body):
        raise refused_field(INVALID_REQUEST, "body", "must be a request or a notification, not a response")
    method, params = body.get("method"), body.get("params", {})
    if not isinstance(method, str) or not 0 < len(method) <= MAX_METHOD:
        raise refused_field(INVALID_REQUEST, "method", f"must be text of 1 to {MAX_METHOD} characters")
    message_id = readable_id(body)
    if message_id is None and "id" in body:
        raise refused_field(INVALID_REQUEST, "id", f"must be a whole number, or text of at most {MAX_ID} characters")
    if not isinstance(params, dict):
        raise refused_field(INVALID_PARAMS, "params", "must be a JSON object")
    if not isinstance(params.get("_meta", {}), dict):
        raise refused_field(INVALID_PARAMS, "params._meta", "must be a JSON object")
    return Message(method, params, message_id)


def readable_id(body: Any) -> MessageId | None:
    """Return the id that a response repeats, also of an invalid message; None if it has no valid one."""
    value = body.get("id") if isinstance(body, dict) else None
    if isinstance(value, str):
        return value if len(value) <= MAX_ID else None
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 else None


def error_response(message_id: MessageId | None, code: int, message: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an error response's body; without an id if the request had no readable one."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data:
        error["data"] = data
    return {"jsonrpc": "2.0", **({} if message_id is None else {"id": message_id}), "error": error}
