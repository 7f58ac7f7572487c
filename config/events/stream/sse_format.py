"""Text of server-sent events, as the HTML standard defines it, in frames that are ready to be written to a connection.

A block without `data` dispatches nothing: it only sets the id from which the client goes on after a reconnection.
"""

from dataclasses import dataclass

import orjson

from config.http.backoff import jitter

# A client reconnects after a random time between both, in milliseconds.
_RETRY_MS = (1_000, 4_000)


@dataclass(frozen=True, slots=True)
class Frame:
    """Part of a response: the text for HTTP/1.0, and the same as a chunk for HTTP/1.1."""

    text: bytes
    chunk: bytes
    # Number of events in it. After it a client has all events up to the id `upto`; 0 for none.
    events: int
    upto: int


def make_frame(text: bytes, *, events: int = 0, upto: int = 0) -> Frame:
    """Return a text's frame. The text must not be empty: an empty chunk ends a response."""
    return Frame(text, b"%x\r\n%b\r\n" % (len(text), text), events, upto)


def event_text(event_id: int, event_type: str, body: object) -> bytes:
    """Return an event with a JSON body, which orjson writes without line breaks."""
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (event_id, event_type.encode(), orjson.dumps(body))


def opening_text(position: int | None) -> bytes:
    """Return how a response begins: the retry delay and, for a client that sent no id, its position."""
    retry = b"retry: %d\n" % jitter(*_RETRY_MS)
    return retry + (b"\n" if position is None else b"id: %d\n\n" % position)


def heartbeat_text(position: int) -> bytes:
    """Return a comment with the client's position, so that a filter without matches leaves no old id."""
    return b": heartbeat\nid: %d\n\n" % position


def history_lost_text(*, oldest: int, newest: int) -> bytes:
    """Return the event after which the stream goes on from the newest event."""
    return event_text(newest, "history-lost", {"oldest": oldest, "newest": newest})
