"""Server-sent events over as many connections as they need, by the rules of the HTML standard's EventSource."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Self, TypedDict

import urllib3
from urllib3.exceptions import HTTPError

from launchboard.errors import LONGEST_WAIT_SECONDS, LaunchboardError, is_retryable, log_wait

# Until the service names another delay in `retry`, which it varies by client: not all reconnect at once.
_RETRY_SECONDS = 3.0


class StreamEvent(TypedDict):
    """A server-sent event with its decoded data."""

    id: str
    event: str
    data: Any


class EventStream(Iterator[StreamEvent]):
    """Iterator of events without an end: a lost connection is opened again, and goes on after the last event.

    Raises LaunchboardError for a response that no later attempt changes, or that requests a wait of more than
    LONGEST_WAIT_SECONDS.
    """

    def __init__(self, open_response: Callable[[str], urllib3.BaseHTTPResponse]) -> None:
        """Take a function that opens the stream after the event with an id; empty for none."""
        self._open = open_response
        self._closed = threading.Event()
        self._response: urllib3.BaseHTTPResponse | None = None
        self._last_id = ""
        self._retry_seconds = _RETRY_SECONDS
        self._events = self._follow()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> StreamEvent:
        return next(self._events)

    def close(self) -> None:
        """End the iteration, of another thread, too, which may be in a wait for the next event."""
        self._closed.set()
        response = self._response
        if response is not None:
            # The connection may have ended just now.
            with suppress(OSError, RuntimeError, ValueError):
                response.shutdown()

    def _follow(self) -> Iterator[StreamEvent]:
        """Yield the events of one connection after the other, with a delay that doubles while none can be opened."""
        delay = 0.0
        while not self._closed.is_set():
            requested: float | None = None
            reason = "the stream ended"
            try:
                with self._open(self._last_id) as self._response:
                    delay = 0.0
                    # The stream may have been closed while the connection opened.
                    if not self._closed.is_set():
                        yield from self._read(self._response)
            except LaunchboardError as error:
                requested = error.retry_after
                if not is_retryable(error.status, requested, may_repeat=True):
                    raise
                reason = str(error.status)
            except HTTPError as error:
                # Lost, or silent for longer than the connection's timeout.
                reason = str(error)
            delay = min(2 * delay, LONGEST_WAIT_SECONDS) or self._retry_seconds
            wait = delay if requested is None else requested
            log_wait(reason, wait)
            self._closed.wait(wait)

    def _read(self, response: urllib3.BaseHTTPResponse) -> Iterator[StreamEvent]:
        """Yield the events of a response. A block without data, such as a heartbeat, moves the last id, too."""
        block: dict[str, str] = {}
        for line in _lines(response):
            if self._closed.is_set():
                return
            if line:
                name, _, text = line.partition(":")
                text = text.removeprefix(" ")
                block[name] = f"{block[name]}\n{text}" if name == "data" and name in block else text
                continue
            self._last_id = block.get("id", self._last_id)
            if re.fullmatch("[0-9]{1,9}", block.get("retry", "")):
                self._retry_seconds = int(block["retry"]) / 1000
            if "data" in block:
                name = block.get("event", "message")
                yield StreamEvent(id=self._last_id, event=name, data=json.loads(block["data"]))
            block = {}


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[str]:
    """Yield complete lines as they arrive, also of a response of HTTP/1.0, which has no chunks."""
    rest = b""
    while part := response.read1():
        *complete, rest = (rest + part).split(b"\n")
        yield from (line.removesuffix(b"\r").decode() for line in complete)
