"""Pretoken responses."""

from typing import TypedDict
from uuid import UUID

from config.parsing.json_rules import Component, Schema, object_schema, response_schema
from pretokens.body import PRETOKEN_BODY
from pretokens.models import PretokenState

_BODY = response_schema(object_schema(PRETOKEN_BODY.keys))
_TIME: Schema = {"type": "string", "format": "date-time"}
_STATE: Schema = {
    "id": {"type": "string", "format": "uuid"},
    "created_at": _TIME,
    "expires_at": _TIME,
    "status": {"type": "string", "enum": [PretokenState.PENDING.value]},
}
_PENDING_PRETOKEN = Component(
    "PendingPretokenShape",
    {
        "description": "A pending pretoken: its body without null keys, and its state.",
        "type": "object",
        "properties": _BODY["properties"] | _STATE,
        "required": sorted([*_BODY["required"], *_STATE]),
    },
)

PENDING = Component(
    "PendingPretokens",
    {
        "type": "object",
        "properties": {"pendingPretokens": {"type": "array", "items": _PENDING_PRETOKEN}},
        "required": ["pendingPretokens"],
    },
)


class PretokenCreated(TypedDict):
    success: bool
    id: UUID


class PretokenDeleted(TypedDict):
    success: bool
