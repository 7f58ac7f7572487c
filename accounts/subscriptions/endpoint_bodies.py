"""Rules of the bodies of the webhook endpoints' API."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from accounts.models.webhooks import MAX_DESCRIPTION
from accounts.subscriptions.endpoints import check_endpoint_url
from config.events.event_types import stored_types
from config.parsing.json_rules import (
    LARGEST_JSON_NUMBER,
    FieldRule,
    InvalidFieldsError,
    Rule,
    choice,
    flag,
    list_of,
    object_of,
    parse_object,
    text,
    whole_number,
)

MAX_CHAINS = 50
_MAX_EMAIL = 254

_plain_text = text(most=MAX_DESCRIPTION)
_event_id = whole_number(least=0, most=LARGEST_JSON_NUMBER, unit="event ids")


@dataclass(frozen=True, kw_only=True, slots=True)
class EventRange:
    """Ids of the events of a replay, both included."""

    first: int
    last: int


def parse_new_endpoint(body: Any) -> dict[str, Any]:
    """Return the columns of a new endpoint. Raises InvalidFieldsError."""
    parsed: dict[str, Any] = object_of(_fields())(body)
    return parsed


def parse_changes(body: Any) -> dict[str, Any]:
    """Return the columns that a PATCH changes, and `enabled` if it is given. Raises InvalidFieldsError.

    Null sets the default, of keys that have one.
    """
    rules = _fields() | {"enabled": FieldRule(rule=flag)}
    given = {name: rule for name, rule in rules.items() if isinstance(body, dict) and name in body}
    changes, problems = parse_object(body, given)
    if not problems and not changes:
        problems.append(("", f"must have one of {', '.join(rules)}"))
    if problems:
        raise InvalidFieldsError(problems)
    return changes


def parse_replay(body: Any) -> EventRange:
    """Return the events of a replay: one, or those of a range. Raises InvalidFieldsError."""
    keys = {name: FieldRule(rule=_event_id, default=None) for name in ("eventId", "afterEventId", "untilEventId")}
    parsed, problems = parse_object(body, keys)
    one, after, until = (parsed.get(name) for name in keys)
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


def _fields() -> dict[str, FieldRule]:
    return {
        "url": FieldRule(rule=_url),
        "description": FieldRule(rule=_plain_text, default=""),
        "types": FieldRule(rule=_listed(choice(*stored_types()), most=len(stored_types())), default=[]),
        "chainIds": FieldRule(
            rule=_listed(whole_number(least=1, most=LARGEST_JSON_NUMBER, unit="chain ids"), most=MAX_CHAINS),
            default=[],
            attribute="chain_ids",
        ),
        "email": FieldRule(rule=_email, default=""),
    }


def _listed(item: Rule, *, most: int) -> Callable[[Any], list[Any]]:
    """Return the rule for a list without duplicates."""
    entries = list_of(item, most=most)

    def rule(value: Any) -> list[Any]:
        return list(dict.fromkeys(entries(value)))

    return rule


def _url(value: Any) -> str:
    checked: str = text(most=2_048, least=1)(value)
    check_endpoint_url(checked)
    return checked


def _email(value: Any) -> str:
    checked: str = text(most=_MAX_EMAIL)(value)
    if checked:
        try:
            validate_email(checked)
        except ValidationError as error:
            raise ValueError("must be a mail address, or empty") from error
    return checked
