"""A stand-in for the stream's process at its HTTP boundary: it sends browsers the events that a test gives it."""

import json
import queue
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from development.standins.loopback import ReceivedRequest, Reply, run_server

_ORIGIN = {"Access-Control-Allow-Origin": "*"}
_HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache", **_ORIGIN}


class EventStream:
    """Server-sent events on loopback, at `url`."""

    def __init__(self) -> None:
        self._clients: list[queue.SimpleQueue[bytes | None]] = []
        # The paths, with their queries, that clients opened.
        self.opened: queue.Queue[str] = queue.Queue()
        # How many next clients that get a proxy's 502.
        self.refusals = 0
        self._number = 0
        self.url = ""

    def respond(self, request: ReceivedRequest) -> Reply:
        """Open a stream, or refuse it."""
        if request.method == "OPTIONS":
            return Reply(status=204, headers={**_ORIGIN, "Access-Control-Allow-Headers": "*"})
        self.opened.put(request.target)
        if self.refusals:
            self.refusals -= 1
            return Reply(status=502)
        client: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._clients.append(client)
        return Reply(iter(client.get, None), headers=_HEADERS)

    def send(self, event_type: str, **data: Any) -> None:
        """Send all clients an event."""
        self._number += 1
        frame = f"id: {self._number}\nevent: {event_type}\ndata: {json.dumps({'type': event_type, 'data': data})}\n\n"
        for client in self._clients:
            client.put(frame.encode())

    def close(self) -> None:
        """End all streams."""
        for client in self._clients:
            client.put(None)


@contextmanager
def open_stream() -> Iterator[EventStream]:
    """Run the stand-in in a thread."""
    stream = EventStream()
    with run_server(stream.respond) as stream.url:
        yield stream
        stream.close()


@pytest.fixture
def stream(settings: Any) -> Iterator[EventStream]:
    """Run the stand-in where pages look for the stream."""
    with open_stream() as stream:
        settings.STREAM_URL = stream.url
        yield stream
