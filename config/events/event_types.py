"""Types of events with the JSON Schemas of their data. EVENT_TYPES lists them.

A change that subscribers could stumble on, such as a removed field, gets a new version; a new field does not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from config.parsing.timestamps import format_timestamp

Json = dict[str, Any]

ADDED_BY = "generation"


@dataclass(frozen=True, kw_only=True, slots=True)
class EventType:
    """A type of event."""

    name: str
    version: int = 1
    # A sentence for subscribers.
    summary: str
    # Meaning of the event's `subject`.
    subject: str
    # JSON Schema of `data`.
    data: Json
    # Returns the fields that publication adds to `data`, by the value of its field ADDED_BY: triggers have no registry.
    added: Callable[[], Mapping[str, Json]] | None = None
    # Whether all subscribers get it, or only the partner that it is about.
    is_public: bool = True
    # Whether it is stored, so that lists and filters know it. A test is only sent.
    is_stored: bool = True
    # Whether only the stream sends it, to clients that name it.
    is_stream_only: bool = False


class EventColumns(Protocol):
    """Columns of an event that subscribers get: of a model, or of a row that the stream reads without models."""

    @property
    def type(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def created_at(self) -> datetime: ...
    @property
    def chain_id(self) -> int | None: ...
    @property
    def subject(self) -> str: ...
    @property
    def data(self) -> Any: ...


@cache
def event_types() -> Mapping[str, EventType]:
    """Return all types by name."""
    return {each.name: each for path in settings.EVENT_TYPES for each in import_string(path)}


@cache
def webhook_types() -> Mapping[str, EventType]:
    """Return the types that webhooks get, by name."""
    return {name: each for name, each in event_types().items() if not each.is_stream_only}


@cache
def stored_types() -> tuple[str, ...]:
    """Return the names of the types by which lists and webhooks filter, sorted."""
    return tuple(sorted(each.name for each in webhook_types().values() if each.is_stored))


def object_schema(properties: Mapping[str, Json], optional: Mapping[str, Json] = MappingProxyType({})) -> Json:
    """Return the schema of an object that always has these properties, may have the optional ones, and may get more."""
    return {"type": "object", "required": [*properties], "properties": {**properties, **optional}}


def event_schema(event_type: EventType) -> Json:
    """Return the JSON Schema of an event."""
    return object_schema(
        {
            "id": {"type": "integer", "minimum": 0, "description": "Rises in the sequence of publication, with gaps."},
            "type": {"type": "string", "const": event_type.name},
            "version": {
                "type": "integer",
                "const": event_type.version,
                "description": "Version of the schema of `data`.",
            },
            "createdAt": {"type": "string", "format": "date-time", "description": "Time of the change."},
            "chainId": {"type": ["integer", "null"]},
            "subject": {"type": "string", "description": event_type.subject},
            "data": event_type.data,
        }
    )


def event_body(event: EventColumns, *, event_id: int) -> Json:
    """Return an event as subscribers get it."""
    return {
        "id": event_id,
        "type": event.type,
        "version": event.version,
        "createdAt": format_timestamp(event.created_at),
        "chainId": event.chain_id,
        "subject": event.subject,
        "data": event.data,
    }
