"""Reading of the outbox in tests, and checks of events against the schemas of their types."""

from jsonschema import Draft202012Validator, FormatChecker

from config.events.event_types import event_body, event_schema, event_types
from config.events.models import EventFields, OutboxEvent


def assert_described(event: EventFields) -> None:
    """Fail unless an event fits the schema of its type."""
    schema = event_schema(event_types()[event.type])
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(event_body(event, event_id=event.pk))


def take_outbox() -> list[OutboxEvent]:
    """Return the events that are not published, and delete them; each fits its schema."""
    events = list(OutboxEvent.objects.order_by("id"))
    for event in events:
        assert_described(event)
    OutboxEvent.objects.all().delete()
    return events


def take_types() -> list[str]:
    """Return the types of the events that are not published, and delete them."""
    return [event.type for event in take_outbox()]
