"""Parser for the request body of POST /api/droid/events."""

from typing import Any

from django.utils import timezone

from config.parsing.json_rules import FieldRule, InvalidFieldsError, described, list_schema, object_of
from leaderboard.events import payloads
from leaderboard.events.errors import EventProblem, InvalidEventsError
from leaderboard.events.field_rules import latest_accepted_time
from leaderboard.events.reported_events import DescriptionEvent, Event

MAX_EVENTS = 1_000
# Over all descriptions of a batch: wallets are the slowest to write, and writers of facts run one at a time.
MAX_WALLETS_PER_BATCH = 1_000
_SIZE_RULE = f"must be a list of 1 to {MAX_EVENTS} events"


@described(list_schema(payloads.EVENT_COMPONENT, least=1, most=MAX_EVENTS))
def _event_list(value: Any) -> list[Any]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_EVENTS:
        raise ValueError(_SIZE_RULE)
    return value


EVENTS_BODY = object_of({"events": FieldRule(rule=_event_list)}, name="AgentEvents")


def parse_request_body(body: Any) -> list[Event]:
    """Parse a JSON body into events.

    Raises InvalidFieldsError for the body itself, InvalidEventsError for any of its events.
    """
    fields = EVENTS_BODY.parse(body)
    latest = latest_accepted_time(timezone.now())
    events, event_problems, wallets_left = list[Event](), list[EventProblem](), MAX_WALLETS_PER_BATCH
    for index, value in enumerate(fields["events"]):
        try:
            event = payloads.parse_event(value, latest=latest)
        except InvalidFieldsError as error:
            event_problems += [EventProblem(index, path, rule) for path, rule in error.problems]
            continue
        events.append(event)
        if isinstance(event, DescriptionEvent) and event.wallets:
            wallets_left -= len(event.wallets)
            if wallets_left < 0:
                rule = f"exceeds the limit of {MAX_WALLETS_PER_BATCH} wallets per batch"
                event_problems.append(EventProblem(index, "wallets", rule))
    if event_problems:
        raise InvalidEventsError(event_problems)
    return events
