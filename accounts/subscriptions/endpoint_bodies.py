"""Rules for request bodies in the webhook endpoints' API."""

from dataclasses import dataclass, replace
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from accounts.models.webhooks import MAX_DESCRIPTION
from accounts.subscriptions.endpoints import ENDPOINT_URL, check_endpoint_url
from config.events.event_types import stored_types
from config.parsing.json_rules import (
    LARGEST_JSON_NUMBER,
    MAX_URL,
    Component,
    FieldRule,
    InvalidFieldsError,
    Rule,
    choice,
    flag,
    integer_schema,
    list_of,
    object_of,
    object_schema,
    parse_object,
    refined,
    text,
    whole_number,
)

MAX_CHAINS = 50
_MAX_EMAIL = 254
EVENT_NAMES = [*stored_types()]


@dataclass(frozen=True, kw_only=True, slots=True)
class EventRange:
    """Ids of the events of a replay, both included."""

    first: int
    last: int


def _listed(item: Rule, *, most: int) -> Rule:
    """Return the rule for a list without duplicates."""
    return refined(list_of(item, most=most))(lambda entries: list(dict.fromkeys(entries)))


@refined(text(most=MAX_URL, least=1))
def _public_url(url: str) -> str:
    check_endpoint_url(url)
    return url


@refined(text(most=_MAX_EMAIL))
def _email(address: str) -> str:
    if address:
        try:
            validate_email(address)
        except ValidationError as error:
            raise ValueError("must be a mail address, or empty") from error
    return address


_URL = Rule(_public_url.parse, ENDPOINT_URL.schema)
_EMAIL = Rule(_email.parse, {"type": "string", "format": "email", "maxLength": _MAX_EMAIL})
_FIELDS = {
    "url": FieldRule(rule=_URL, description="https:// and a host, on port 443."),
    "description": FieldRule(rule=text(most=MAX_DESCRIPTION), default=""),
    "types": FieldRule(
        rule=_listed(choice(*EVENT_NAMES), most=len(EVENT_NAMES)), default=[], description="Empty for all types."
    ),
    "chainIds": FieldRule(
        rule=_listed(whole_number(least=1, most=LARGEST_JSON_NUMBER, unit="chain ids"), most=MAX_CHAINS),
        default=[],
        attribute="chain_ids",
        description="Empty for all chains.",
    ),
    "email": FieldRule(
        rule=_EMAIL, default="", description="Gets a mail before and after the endpoint is disabled for failures."
    ),
}
NEW_ENDPOINT = object_of(_FIELDS, name="EndpointBody", description="A webhook endpoint.")
_CHANGES = _FIELDS | {
    "enabled": FieldRule(rule=flag, description="An endpoint that is enabled gets events from then on.")
}
CHANGES_BODY = Component(
    "PatchedEndpointChanges",
    object_schema({name: replace(key, default=None) for name, key in _CHANGES.items()})
    | {"description": "Changes of a webhook endpoint: one key or more.", "minProperties": 1},
)
_EVENT_ID = whole_number(least=0, most=LARGEST_JSON_NUMBER, unit="event ids")
_ONE = {"eventId": FieldRule(rule=_EVENT_ID, description="Id of the event.")}
_AFTER = {"afterEventId": FieldRule(rule=_EVENT_ID, description="Id before the first event.")}
# It is larger than afterEventId.
_LATER_ID = Rule(_EVENT_ID.parse, integer_schema(least=1, most=LARGEST_JSON_NUMBER))
_UNTIL = {"untilEventId": FieldRule(rule=_LATER_ID, default=None, description="By default the newest event.")}
_REPLAY = {name: replace(key, default=None) for name, key in (_ONE | _AFTER | _UNTIL).items()}
REPLAY_BODY = Component(
    "ReplayBody",
    {
        "oneOf": [
            Component("ReplayedEvent", object_schema(_ONE, description="One event to send again.")),
            Component(
                "ReplayedRange",
                object_schema(_AFTER | _UNTIL, description="Range of event ids to send again."),
            ),
        ]
    },
)


def parse_changes(body: Any) -> dict[str, Any]:
    """Return the columns that a PATCH changes, and `enabled` if it is given. Raises InvalidFieldsError.

    Null sets the default, for keys that have one.
    """
    changed_keys = {name: key for name, key in _CHANGES.items() if isinstance(body, dict) and name in body}
    changes, problems = parse_object(body, changed_keys)
    if not problems and not changes:
        problems.append(("", f"must have one of {', '.join(_CHANGES)}"))
    if problems:
        raise InvalidFieldsError(problems)
    return changes


def parse_replay(body: Any) -> EventRange:
    """Return a replay's events: one event, or a range. Raises InvalidFieldsError."""
    parsed, problems = parse_object(body, _REPLAY)
    one, after, until = (parsed.get(name) for name in _REPLAY)
    if not problems and (one is None) == (after is None):
        problems.append(("eventId", "must be given, or else afterEventId, and not both"))
    if not problems and one is not None and until is not None:
        problems.append(("untilEventId", "must not be given with eventId"))
    if not problems and after is not None and until is not None and until <= after:
        problems.append(("untilEventId", "must be larger than afterEventId"))
    if problems:
        raise InvalidFieldsError(problems)
    first: Any = one if after is None else after + 1
    last = one if one is not None else until
    return EventRange(first=first, last=LARGEST_JSON_NUMBER if last is None else last)
