"""The Procfile's stream process, and clients that read its server-sent events over sockets."""

import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from config.environment.server_urls import is_web_server_up
from development.servers.processes import free_port
from tests.processes.service_processes import HOST, Service
from tests.processes.waiting import wait_for

PATH = "/api/tokens/stream"


@dataclass(frozen=True)
class ReceivedEvent:
    """Event as an EventSource dispatches it."""

    id: int
    type: str
    data: Any


class StreamReader:
    """Client for one response, which may be an error."""

    def __init__(self, port: int, query: str = "", *, address: str = HOST, method: str = "GET", **headers: str) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection = http.client.HTTPConnection(HOST, port, timeout=60, source_address=(address, 0))
        self._connection.request(method, f"{PATH}{query}", headers=named)
        self.response = self._connection.getresponse()
        self.last_id: int | None = None

    def next_event(self, stop: threading.Event | None = None) -> ReceivedEvent | None:
        """Return the next event, None when the response ends, or after a heartbeat if `stop` is set.

        Raises OSError or HTTPException if the connection breaks off.
        """
        data = kind = block_id = ""
        while True:
            line = self.response.readline().decode()
            if not line.endswith("\n"):
                # An incomplete block's rest is dropped, with its id.
                return None
            name, _, value = line.rstrip("\n").partition(": ")
            if name == "id":
                block_id = value
            elif name == "event":
                kind = value
            elif name == "data":
                data = value
            elif line == "\n":
                self.last_id = int(block_id) if block_id else self.last_id
                if data:
                    assert self.last_id is not None
                    return ReceivedEvent(self.last_id, kind, json.loads(data))
                if stop is not None and stop.is_set():
                    return None

    def take(self, count: int) -> list[ReceivedEvent]:
        """Return the next events."""
        found = [self.next_event() for _ in range(count)]
        assert all(found)
        return [event for event in found if event]

    def read_opening(self) -> None:
        """Read the first block, after which the client is served."""
        while self.response.readline() != b"\n":
            pass

    def close(self) -> None:
        """Disconnect."""
        self._connection.close()
        self.response.close()


class ResumingReader:
    """Client that reconnects with its last id whenever its connection ends, in its own thread."""

    def __init__(self, port: int, query: str = "") -> None:
        self.events: list[ReceivedEvent] = []
        self.connections = 0
        self._port, self._query, self._last_id = port, query, ""
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._is_closed.wait(0.01):
            try:
                self._read()
            except (OSError, http.client.HTTPException):
                continue

    def _read(self) -> None:
        headers = {"Last_Event_ID": self._last_id} if self._last_id else {}
        reader = StreamReader(self._port, self._query, **headers)
        if reader.response.status != 200:
            reader.close()
            return
        self.connections += 1
        try:
            while not self._is_closed.is_set():
                event = reader.next_event(self._is_closed)
                if event is None:
                    return
                self.events.append(event)
        finally:
            self._last_id = self._last_id if reader.last_id is None else str(reader.last_id)
            reader.close()

    def close(self) -> None:
        """Stop after the next event or heartbeat."""
        self._is_closed.set()
        self._thread.join()


class StreamProcess:
    """Stream process, which can be killed and started again."""

    def __init__(self, environment: Mapping[str, str], **settings: str) -> None:
        self.port = free_port()
        self.service = Service("stream", {**environment, "STREAM_PORT": str(self.port), **settings})

    def wait_until_ready(self) -> None:
        """Wait until it responds and has read the newest events."""
        wait_for(lambda: is_web_server_up(HOST, self.port))
        wait_for(lambda: self.open().response.status == 200)

    def open(self, query: str = "", **options: str) -> StreamReader:
        """Open a stream, or get its refusal."""
        return StreamReader(self.port, query, **options)

    def listen(self, query: str = "", **options: str) -> StreamReader:
        """Open a stream, and wait until it is served."""
        reader = self.open(query, **options)
        assert reader.response.status == 200, reader.response.read()
        reader.read_opening()
        return reader

    def fetch(self, path: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
        """Send a request, and return the response with its body."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=60)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response, response.read()

    def metric(self, name: str) -> float:
        """Return a metric's sum over its labels."""
        lines = self.fetch("/metrics")[1].decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"launchboard_stream_{name}"))


@contextmanager
def stream_process(
    environment: Mapping[str, str], *, is_ready: bool = True, **settings: str
) -> Iterator[StreamProcess]:
    """Run the stream while the block runs; with `is_ready` begin once it has read the database."""
    process = StreamProcess(environment, **settings)
    try:
        if is_ready:
            process.wait_until_ready()
        yield process
    finally:
        process.service.kill()
