"""Event types with the JSON Schemas for their data. `EVENT_TYPES` of `config.settings.contributions` lists them.

A change that subscribers could stumble on, such as a removed field, gets a new version; a new field does not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Protocol, TypedDict

from django.conf import settings
from django.utils.module_loading import import_string

from config.parsing.response_types import Keywords, Timestamp, properties_schema
from config.parsing.timestamps import format_timestamp

Json = dict[str, Any]

ADDED_BY = "generation"


@dataclass(frozen=True, kw_only=True, slots=True)
class EventType:
    """Event type."""

    name: str
    version: int = 1
    # A sentence for subscribers.
    summary: str
    # What the event's `subject` contains.
    subject: str
    # JSON Schema for `data`.
    data: Json
    # Returns the fields that publication adds to `data`, by the value in its field ADDED_BY: triggers have no registry.
    added: Callable[[], Mapping[str, Json]] | None = None
    # Whether all subscribers get it, or only the partner that it is about.
    is_public: bool = True
    # Whether it is stored, so that lists and filters know it. A test is only sent.
    is_stored: bool = True
    # Whether only the stream sends it, to clients that name it.
    is_stream_only: bool = False


class EventBody(TypedDict):
    id: Annotated[int, Keywords(minimum=0), "Rises in the sequence of publication, with gaps."]
    type: str
    version: Annotated[int, "Version of the schema of `data`."]
    createdAt: Annotated[Timestamp, "Time of the change."]
    chainId: int | None
    subject: Annotated[str, "What it is about, such as an address or a request key."]
    data: Annotated[Any, Keywords(type="object"), "Described by the schema of the type, under `webhooks`."]


class EventColumns(Protocol):
    """Event columns that subscribers get: a model's, or a row's that the stream reads without models."""

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
    return {event_type.name: event_type for path in settings.EVENT_TYPES for event_type in import_string(path)}


@cache
def webhook_types() -> Mapping[str, EventType]:
    """Return the types that webhooks get, by name."""
    return {name: event_type for name, event_type in event_types().items() if not event_type.is_stream_only}


@cache
def stored_types() -> tuple[str, ...]:
    """Return the sorted type names that lists and webhooks filter by."""
    return tuple(sorted(event_type.name for event_type in webhook_types().values() if event_type.is_stored))


def event_schema(event_type: EventType) -> Json:
    """Return an event's JSON Schema."""
    schema = properties_schema(EventBody)
    properties = schema["properties"]
    properties["type"] |= {"const": event_type.name}
    properties["version"] |= {"const": event_type.version}
    properties["subject"] |= {"description": event_type.subject}
    properties["data"] = event_type.data
    return schema


def event_body(event: EventColumns, *, event_id: int) -> EventBody:
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
