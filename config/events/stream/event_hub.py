"""Fan-out of events: the newest ones in memory, and the live clients, which have all of them.

A client that resumes reads on in pages. With the newest event it becomes live in the same step of the event loop, so
that it misses no event and gets none twice. A live client whose buffer is full reads on in pages again.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

from config.events.event_types import event_body
from config.events.stream.event_reading import EventRow
from config.events.stream.sse_format import Frame, event_text, make_frame
from config.events.stream.stream_query import StreamFilter, creator_keys

# Events in memory: of at most this number of ids at the start, and of this size in bytes.
KEPT_EVENTS = 10_000
_KEPT_BYTES = 16 * 2**20
# Events that a client reads at once.
READ_EVENTS = 50
# Size of a frame in bytes, unless one event is longer.
_FRAME_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class EncodedEvent:
    """Event as it is sent, with what filters compare."""

    id: int
    row: EventRow
    creators: frozenset[str]
    text: bytes


class Subscriber(Protocol):
    """Connection of a client; `position` is the id up to which it has all events, except while it is live."""

    position: int
    wanted: StreamFilter

    def has_room(self) -> bool:
        """Return whether another frame fits into its buffer."""

    def send_frame(self, frame: Frame) -> None:
        """Write the frame to its buffer."""

    def wake(self) -> None:
        """Read on in pages."""


class EventHub:
    """Newest events and live clients of this process."""

    def __init__(self) -> None:
        # All events with ids above `floor`, up to `newest`, are in memory.
        self.floor = self.newest = 0
        # Whether they were read from the database since the start.
        self.is_ready = False
        self.is_closed = False
        self._events: list[EncodedEvent] = []
        self._bytes = 0
        self._live: defaultdict[StreamFilter, set[Subscriber]] = defaultdict(set)

    def start_after(self, floor: int) -> None:
        """Begin without events; the live clients read on, because their positions may be of another database."""
        self._wake_live()
        self.is_ready = False
        self.floor = self.newest = floor
        self._events, self._bytes = [], 0

    def publish(self, rows: Sequence[EventRow]) -> None:
        """Send the rows, which follow the newest event, to the live clients, and keep them."""
        events = encode_events(rows)
        upto = rows[-1].id
        for wanted, clients in list(self._live.items()):
            frames = list(make_frames(events, wanted, upto=upto))
            for client in list(clients):
                self._send(client, frames)
        self._events += events
        self._bytes += sum(len(event.text) for event in events)
        self.newest = upto
        self._drop_oldest()

    def broadcast(self, frame: Frame) -> None:
        """Send a frame without events to the live clients."""
        for clients in list(self._live.values()):
            for client in list(clients):
                self._send(client, [frame])

    def read_on(self, position: int, wanted: StreamFilter) -> tuple[list[Frame], int]:
        """Return frames of the next events in memory after `position`, and the id up to which they are complete."""
        start = bisect_right(self._events, position, key=attrgetter("id"))
        events = self._events[start : start + READ_EVENTS]
        upto = events[-1].id if start + READ_EVENTS < len(self._events) else self.newest
        return list(make_frames(events, wanted, upto=upto)), upto

    def join(self, client: Subscriber) -> None:
        """Make a client live, whose position is the newest event."""
        self._live[client.wanted].add(client)

    def leave(self, client: Subscriber) -> None:
        """Remove a client, live or not."""
        clients = self._live.get(client.wanted)
        if clients is not None:
            clients.discard(client)
            if not clients:
                del self._live[client.wanted]

    def close(self) -> None:
        """End all clients."""
        self.is_closed = True
        self._wake_live()

    def _send(self, client: Subscriber, frames: Sequence[Frame]) -> None:
        position = self.newest
        for frame in frames:
            if not client.has_room():
                self._dismiss(client, position)
                return
            client.send_frame(frame)
            position = frame.upto

    def _dismiss(self, client: Subscriber, position: int) -> None:
        client.position = position
        self.leave(client)
        client.wake()

    def _wake_live(self) -> None:
        for clients in list(self._live.values()):
            for client in list(clients):
                self._dismiss(client, self.newest)

    def _drop_oldest(self) -> None:
        count = 0
        while self._bytes > _KEPT_BYTES:
            self._bytes -= len(self._events[count].text)
            count += 1
        if count:
            self.floor = self._events[count - 1].id
            del self._events[:count]


def encode_events(rows: Sequence[EventRow]) -> list[EncodedEvent]:
    """Return the events of the rows, without those that the stream doesn't send."""
    return [
        EncodedEvent(
            row.id, row, creator_keys(row.data), event_text(row.id, row.type, event_body(row, event_id=row.id))
        )
        for row in rows
        if row.data is not None
    ]


def make_frames(events: Sequence[EncodedEvent], wanted: StreamFilter, *, upto: int) -> Iterator[Frame]:
    """Yield the events that match as frames; after the last one a client has all events up to `upto`."""
    texts: list[bytes] = []
    size, last = 0, 0
    for event in events:
        if not wanted.matches(event.row, event.creators):
            continue
        if texts and size + len(event.text) > _FRAME_BYTES:
            yield make_frame(b"".join(texts), events=len(texts), upto=last)
            texts, size = [], 0
        texts.append(event.text)
        size, last = size + len(event.text), event.id
    if texts:
        yield make_frame(b"".join(texts), events=len(texts), upto=upto)
