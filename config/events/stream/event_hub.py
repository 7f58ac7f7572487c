"""Event fan-out: the newest events in memory, and the live clients, which are sent to in turns.

Each turn has an equal share of the clients, which all have the same events. Sending to all clients at once would delay
other processes on the same processor. Fewer sends carry more events each.

A client that resumes reads on in pages. When it has its turn's newest event, it becomes live in the same event loop
step: it misses no event and gets none twice. A live client with a full buffer reads on in pages again.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from operator import attrgetter
from typing import Protocol

from config.events.event_types import event_body
from config.events.stream.event_reading import EventRow
from config.events.stream.sse_format import Frame, event_text, heartbeat_text, make_frame
from config.events.stream.stream_query import StreamFilter, creator_keys

_TURNS = 12
# Events that one turn is sent at once.
_TURN_EVENTS = 500
# Limits on events in memory: ids at the start, and bytes.
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
    """Client connection; it has all events up to the id `position`, except while it is live."""

    position: int
    stream_filter: StreamFilter

    def has_room(self) -> bool:
        """Return whether another frame fits into its buffer."""

    def send_frame(self, frame: Frame) -> None:
        """Write the frame to its buffer."""

    def wake(self) -> None:
        """Read on in pages."""


class Turn:
    """Live clients that are sent to together; they have all events up to the id `position`."""

    def __init__(self) -> None:
        self.position = 0
        self._clients: defaultdict[StreamFilter, set[Subscriber]] = defaultdict(set)

    def join(self, client: Subscriber) -> None:
        """Make a client live; its position is the turn's."""
        self._clients[client.stream_filter].add(client)

    def leave(self, client: Subscriber) -> None:
        """Remove a client, live or not."""
        clients = self._clients.get(client.stream_filter)
        if clients is not None:
            clients.discard(client)
            if not clients:
                del self._clients[client.stream_filter]

    def send(self, events: Sequence[EncodedEvent], *, upto: int) -> None:
        """Send the events after the turn's position, all up to `upto`, to the clients whose filter they pass."""
        for stream_filter, clients in list(self._clients.items()):
            frames = list(make_frames(events, stream_filter, upto=upto))
            for client in list(clients):
                self._send(client, frames)
        self.position = upto

    def send_heartbeat(self) -> None:
        """Send a heartbeat with the position to the clients."""
        frames = [make_frame(heartbeat_text(self.position))]
        for client in self._all():
            self._send(client, frames)

    def wake_all(self) -> None:
        """Let the clients read on in pages."""
        for client in self._all():
            self._dismiss(client, self.position)

    def _all(self) -> list[Subscriber]:
        return [client for clients in self._clients.values() for client in clients]

    def _send(self, client: Subscriber, frames: Sequence[Frame]) -> None:
        position = self.position
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


class EventHub:
    """This process's newest events and live clients."""

    def __init__(self) -> None:
        # All events with ids above `floor`, up to `newest`, are in memory.
        self.floor = self.newest = 0
        # Whether they were read from the database since the start.
        self.is_ready = False
        self.is_closed = False
        self.turns = [Turn() for _ in range(_TURNS)]
        self._next_turn = cycle(self.turns)
        self._events: list[EncodedEvent] = []
        self._bytes = 0

    def take_turn(self) -> Turn:
        """Return a new client's turn, so that all turns have about as many."""
        return next(self._next_turn)

    def start_after(self, floor: int) -> None:
        """Begin without events; the live clients read on, because their positions may be another database's."""
        self.is_ready = False
        self.floor = self.newest = floor
        self._events, self._bytes = [], 0
        for turn in self.turns:
            turn.wake_all()
            turn.position = floor

    def keep(self, rows: Sequence[EventRow]) -> None:
        """Keep the rows, which follow the newest event, until the turns are served."""
        events = encode_events(rows)
        self._events += events
        self._bytes += sum(len(event.text) for event in events)
        self.newest = rows[-1].id
        self._drop_oldest()

    def serve(self, turn: Turn) -> None:
        """Send the next events after its position to the turn; if some are not in memory, its clients read on."""
        if turn.position < self.floor:
            turn.wake_all()
            turn.position = self.newest
        elif turn.position < self.newest:
            events, upto = self._page(turn.position, upto=self.newest, limit=_TURN_EVENTS)
            turn.send(events, upto=upto)

    def read_on(self, position: int, stream_filter: StreamFilter, *, upto: int) -> tuple[list[Frame], int]:
        """Return frames with the next events in memory after `position`, and the last id that they cover."""
        events, upto = self._page(position, upto=upto, limit=READ_EVENTS)
        return list(make_frames(events, stream_filter, upto=upto)), upto

    def close(self) -> None:
        """End all clients."""
        self.is_closed = True
        for turn in self.turns:
            turn.wake_all()

    def _page(self, position: int, *, upto: int, limit: int) -> tuple[list[EncodedEvent], int]:
        start, end = (bisect_right(self._events, event_id, key=attrgetter("id")) for event_id in (position, upto))
        if end - start > limit:
            end = start + limit
            upto = self._events[end - 1].id
        return self._events[start:end], upto

    def _drop_oldest(self) -> None:
        count = 0
        while self._bytes > _KEPT_BYTES:
            self._bytes -= len(self._events[count].text)
            count += 1
        if count:
            self.floor = self._events[count - 1].id
            del self._events[:count]


def encode_events(rows: Sequence[EventRow]) -> list[EncodedEvent]:
    """Return the rows' events, without those that the stream doesn't send."""
    return [
        EncodedEvent(
            row.id, row, creator_keys(row.data), event_text(row.id, row.type, event_body(row, event_id=row.id))
        )
        for row in rows
        if row.data is not None
    ]


def make_frames(events: Sequence[EncodedEvent], stream_filter: StreamFilter, *, upto: int) -> Iterator[Frame]:
    """Yield the events that match as frames; after the last one a client has all events up to `upto`."""
    texts: list[bytes] = []
    size, last_id = 0, 0
    for event in events:
        if not stream_filter.matches(event.row, event.creators):
            continue
        if texts and size + len(event.text) > _FRAME_BYTES:
            yield make_frame(b"".join(texts), events=len(texts), upto=last_id)
            texts, size = [], 0
        texts.append(event.text)
        size, last_id = size + len(event.text), event.id
    if texts:
        yield make_frame(b"".join(texts), events=len(texts), upto=upto)
