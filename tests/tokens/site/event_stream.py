"""A stand-in for the stream's process at its HTTP boundary: it sends browsers the events that a test gives it."""

import json
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"stream": self}))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def connect(self, path: str) -> "queue.SimpleQueue[bytes | None]":
        """Return a new client's queue."""
        client: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._clients.append(client)
        self.opened.put(path)
        return client

    def send(self, event_type: str, **data: Any) -> None:
        """Send all clients an event."""
        self._number += 1
        frame = f"id: {self._number}\nevent: {event_type}\ndata: {json.dumps({'type': event_type, 'data': data})}\n\n"
        for client in self._clients:
            client.put(frame.encode())

    def close(self) -> None:
        """End all streams, and the server."""
        for client in self._clients:
            client.put(None)
        self.server.shutdown()
        self.server.server_close()


class _Handler(BaseHTTPRequestHandler):
    stream: EventStream

    def do_GET(self) -> None:
        if self.stream.refusals:
            self.stream.refusals -= 1
            self.stream.opened.put(self.path)
            self.send_error(502)
            return
        client = self.stream.connect(self.path)
        self.send_response(200)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        while (frame := client.get()) is not None:
            self.wfile.write(frame)
            self.wfile.flush()

    def do_OPTIONS(self) -> None:
        self.send_response(204)
        for name, value in {**_ORIGIN, "Access-Control-Allow-Headers": "*"}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def open_stream() -> Iterator[EventStream]:
    """Run the stand-in in a thread."""
    stream = EventStream()
    threading.Thread(target=stream.server.serve_forever, daemon=True).start()
    yield stream
    stream.close()
