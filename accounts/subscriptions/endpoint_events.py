"""Types of events about webhook endpoints. Imports no model: the stream reads all types without Django's models."""

from enum import StrEnum

from config.events.event_types import EventType
from config.parsing.response_types import open_object_schema

_DATA = open_object_schema(
    {
        "endpointId": {"type": "integer"},
        "url": {"type": "string"},
        "failingSince": {"type": ["string", "null"], "format": "date-time"},
        "reason": {"type": "string", "description": "Empty while the endpoint is enabled."},
    }
)
_SUBJECT = "Id of the endpoint."


class Notice(StrEnum):
    """Types of the notices' events."""

    FAILING = "endpoint.failing"
    DISABLED = "endpoint.disabled"


ENDPOINT_EVENTS = (
    EventType(
        name=Notice.FAILING.value,
        summary="All deliveries to a webhook endpoint of yours have failed for days; it will be disabled.",
        subject=_SUBJECT,
        data=_DATA,
        is_public=False,
    ),
    EventType(
        name=Notice.DISABLED.value,
        summary="A webhook endpoint of yours is disabled: it answered 410, or with nothing but failures for days.",
        subject=_SUBJECT,
        data=_DATA,
        is_public=False,
    ),
    EventType(
        name="webhook.test",
        summary="You have requested a test of a webhook endpoint. Its id is 0: it is in no list.",
        subject=_SUBJECT,
        data=open_object_schema({"message": {"type": "string"}}),
        is_public=False,
        is_stored=False,
    ),
)
