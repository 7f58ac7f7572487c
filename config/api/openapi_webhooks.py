"""OpenAPI description of webhooks: one operation for each type of event, with the schema of its body."""

from typing import Any

from config.events.event_types import EventType, event_schema, event_types

_HEADERS = {
    "webhook-id": "Identifies the event: a repeated delivery has the same id.",
    "webhook-timestamp": "Time of the attempt in Unix seconds. Reject it if it is more than five minutes off.",
    "webhook-signature": "Signatures separated by blanks, each `v1,` and base64 of HMAC-SHA256 over"
    " `id.timestamp.body` with the endpoint's secret. During a rotation there are two.",
}


def describe_webhooks(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Add `webhooks`, by the name of the event's type."""
    result["webhooks"] = {each.name: {"post": _operation(each)} for each in event_types().values()}
    return result


def _operation(event_type: EventType) -> dict[str, Any]:
    return {
        "operationId": f"on{''.join(part.title() for part in event_type.name.split('.'))}",
        "tags": ["events"],
        "summary": event_type.summary.partition(". ")[0].removesuffix("."),
        "description": event_type.summary,
        "parameters": [
            {"in": "header", "name": name, "required": True, "schema": {"type": "string"}, "description": text}
            for name, text in _HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": event_schema(event_type)}}},
        "responses": {
            "2XX": {"description": "The event is accepted. Any other status, a redirect too, is a failure."},
            "410": {"description": "The endpoint is disabled."},
        },
    }
