"""Catch-up list pages, in publication sequence."""

from dataclasses import dataclass

from config.events.event_types import EventBody, event_body
from config.events.models import Event
from config.events.outbox import newest_event_id, oldest_event_id


class HistoryLostError(Exception):
    """Events after the requested id are past their retention, or the id is larger than any event's."""

    def __init__(self, *, oldest: int, newest: int) -> None:
        super().__init__(f"events from {oldest} to {newest} are stored")
        self.oldest, self.newest = oldest, newest


@dataclass(frozen=True, slots=True)
class EventPage:
    """Event bodies, and the id after which the next page begins."""

    events: list[EventBody]
    cursor: int


def read_event_page(
    *, partner_key_id: int, after: int | None, limit: int, event_type: str | None = None, chain_id: int | None = None
) -> EventPage:
    """Return the events that a partner may read, after an id, or from the oldest one. Raises HistoryLostError.

    The cursor goes on to the newest event, even if no event on the way matches the filters.
    """
    # Before the page: events that are published meanwhile are left to the next one.
    oldest, newest = oldest_event_id(), newest_event_id()
    begin = oldest - 1 if after is None else after
    # While no event is stored, nothing is known about an id.
    if oldest and not oldest - 1 <= begin <= newest:
        raise HistoryLostError(oldest=oldest, newest=newest)
    matching = Event.objects.readable_by(partner_key_id).filter(pk__gt=begin, pk__lte=newest)
    if event_type is not None:
        matching = matching.filter(type=event_type)
    if chain_id is not None:
        matching = matching.filter(chain_id=chain_id)
    events = list(matching.order_by("pk")[:limit])
    if begin + 1 < oldest_event_id():
        # A week was dropped meanwhile.
        raise HistoryLostError(oldest=oldest_event_id(), newest=newest)
    is_full = len(events) == limit
    return EventPage(
        [event_body(event, event_id=event.pk) for event in events], events[-1].pk if is_full else max(begin, newest)
    )
