"""Outbox reading in tests, and event checks against the schemas for their types."""

from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from config.events.event_types import event_body, event_schema, event_types
from config.events.models import EventFields, OutboxEvent


def assert_described(event: EventFields) -> None:
    """Fail unless an event fits its type's schema, and has no key that the schema lacks."""
    schema = _without_more_keys(event_schema(event_types()[event.type]))
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(event_body(event, event_id=event.pk))


def _without_more_keys(schema: Any) -> Any:
    """Return a schema whose objects allow the described keys only: a trigger may add a key, and nobody its schema."""
    if isinstance(schema, list):
        return [_without_more_keys(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _without_more_keys(part) for name, part in schema.items()}
    return closed | {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else closed


def take_outbox() -> list[OutboxEvent]:
    """Return the events that are not published, and delete them; each fits its schema."""
    events = list(OutboxEvent.objects.order_by("id"))
    for event in events:
        assert_described(event)
    OutboxEvent.objects.all().delete()
    return events


def take_types() -> list[str]:
    """Delete the unpublished events, and return their types."""
    return [event.type for event in take_outbox()]
