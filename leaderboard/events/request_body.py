"""The body of a call that tells of events."""

from typing import Any

from django.utils import timezone

from config.json_rules import Key, Refused, read_object
from leaderboard.events import payloads
from leaderboard.events.errors import BadEvents, Trouble, troubles_of
from leaderboard.events.field_rules import latest_time
from leaderboard.events.payloads import Described, Event

MAX_EVENTS = 1_000
# Of all descriptions together: they take longer to write than anything else, and all others who write wait for them.
MAX_WALLETS_TOLD = 1_000
_SIZE = f"must be a list of 1 to {MAX_EVENTS} events"


def read(body: Any) -> list[Event]:
    """The events of a parsed JSON body. Raises Refused for the body as such, BadEvents for any of them."""
    taken, problems = read_object(body, {"events": Key(rule=_listed)})
    if problems:
        raise Refused(problems)
    latest = latest_time(timezone.now())
    found, troubles, room = list[Event](), list[Trouble](), MAX_WALLETS_TOLD
    for index, value in enumerate(taken["events"]):
        try:
            event = payloads.read(value, latest=latest)
        except Refused as error:
            troubles += troubles_of(index, error)
            continue
        found.append(event)
        if isinstance(event, Described) and event.wallets:
            room -= len(event.wallets)
            if room < 0:
                rule = f"would be more than the {MAX_WALLETS_TOLD} wallets that a batch may tell of"
                troubles.append(Trouble(index, "wallets", rule))
    if troubles:
        raise BadEvents(troubles)
    return found


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_EVENTS:
        raise ValueError(_SIZE)
    return value
