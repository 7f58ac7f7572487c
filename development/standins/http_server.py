"""Base class for all stand-ins: a loopback HTTP server that responds with JSON, records requests, and can misbehave.

`behave` sets its mode within the process, or `POST /_control` with `{"mode": "rate_limit", "times": 3, "seconds": 2}`;
`GET /_control` returns the mode and the number of requests.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

HOST = "127.0.0.1"
CONTROL_PATH = "/_control"

# Number of recorded requests; only the newest are stored.
_REMEMBERED = 10_000
# A huge body's size in one-megabyte pieces, unless the caller disconnects first.
_HUGE_PIECES = 256
_PIECE = b" " * 1024 * 1024
_MAX_CONTROL_BYTES = 10_000
_MAX_POSTED_BYTES = 1024 * 1024


class Mode(StrEnum):
    """Response kind."""

    OK = "ok"
    # Status 500.
    FAIL = "fail"
    # The regular response after a delay in seconds.
    STALL = "stall"
    # Status 429; the seconds are sent as Retry-After.
    RATE_LIMIT = "rate_limit"
    # Status 401, as for an unknown key.
    WRONG_KEY = "wrong_key"
    # Status 200 with an HTML page, as from a proxy in between.
    NOT_JSON = "not_json"
    # Status 200 with JSON whose values all have another type than documented.
    WRONG_SHAPE = "wrong_shape"
    # Status 200 with a body of hundreds of megabytes.
    HUGE = "huge"
    # Status 200 with half of the body that Content-Length announces.
    CUT_SHORT = "cut_short"


@dataclass(frozen=True)
class ReceivedRequest:
    """Received request. Header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    # Raw body of a POST.
    content: bytes = b""


@dataclass(frozen=True)
class StandInResponse:
    """Response: any JSON value, with a status."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Behaviour:
    mode: Mode = Mode.OK
    # Remaining requests in this mode; None for all.
    times: int | None = None
    seconds: float = 0.0


class StandIn:
    """Server that runs within `with`. A subclass implements the outside service in `answer`."""

    # The provider's error bodies by status; a missing status has an empty object.
    ERRORS: Mapping[int, Any] = {}
    # Whether the outside service takes POST instead of GET.
    TAKES_POSTS = False

    def __init__(self, port: int = 0) -> None:
        """Bind the port, 0 for any free one. Raises OSError if the port is in use."""
        handler = type("Handler", (_Handler,), {"stand_in": self})
        self._server = _Server((HOST, port), handler)
        self.url = f"http://{HOST}:{self._server.server_port}"
        # Set when the server ends; stalled requests wait for it.
        self.closed = threading.Event()
        # The newest requests sorted by arrival, without requests to the control path.
        self.received: deque[ReceivedRequest] = deque(maxlen=_REMEMBERED)
        # Hooks for tests: the status that rejects a request, and a change to the regular body.
        self.refuse: Callable[[ReceivedRequest], int | None] = lambda received: None
        self.change: Callable[[ReceivedRequest, Any], Any] = lambda received, body: body
        self._behaviour = _Behaviour()
        self._lock = threading.Lock()
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, name=type(self).__name__, daemon=True
        )

    def answer(self, received: ReceivedRequest) -> StandInResponse | None:
        """Return the outside service's response; None for an unknown path."""
        raise NotImplementedError

    def behave(self, mode: Mode, *, times: int | None = None, seconds: float = 5.0) -> None:
        """Respond to the next requests in this mode: `times` requests, or all until the next call.

        `seconds` is a stall's duration, or a rate limit's Retry-After.
        """
        with self._lock:
            self._behaviour = _Behaviour(mode, times, seconds)

    def take(self, received: ReceivedRequest) -> _Behaviour:
        """Record a request; return how to respond to it."""
        with self._lock:
            self.received.append(received)
            current = self._behaviour
            if current.times is not None:
                times_left = current.times - 1
                self._behaviour = (
                    _Behaviour(current.mode, times_left, current.seconds) if times_left > 0 else _Behaviour()
                )
        return current

    def control(self, content: bytes) -> StandInResponse:
        """Return the response to `POST /_control`; an empty body changes nothing."""
        if content:
            try:
                wish = json.loads(content)
                times, seconds = wish.get("times"), float(wish.get("seconds", 5.0))
                self.behave(Mode(wish["mode"]), times=None if times is None else int(times), seconds=seconds)
            except (ValueError, TypeError, KeyError, AttributeError):
                expected = f"a mode of {', '.join(Mode)}; times and seconds are numbers"
                return StandInResponse({"error": f"expected {expected}"}, status=400)
        with self._lock:
            return StandInResponse(
                {"mode": self._behaviour.mode, "times": self._behaviour.times, "requests": len(self.received)},
            )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closed.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    # Accepts bursts of connections.
    request_queue_size = 128


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are two writes; the second would wait for the caller's delayed acknowledgement.
    disable_nagle_algorithm = True
    stand_in: StandIn

    def handle(self) -> None:
        # The caller may disconnect at any moment.
        with suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        if urlsplit(self.path).path == CONTROL_PATH:
            self._send(self.stand_in.control(b""))
        else:
            self._take(b"")

    def do_POST(self) -> None:
        is_control = urlsplit(self.path).path == CONTROL_PATH
        most = _MAX_CONTROL_BYTES if is_control or not self.stand_in.TAKES_POSTS else _MAX_POSTED_BYTES
        content = self.rfile.read(min(int(self.headers.get("content-length", 0)), most))
        if is_control:
            self._send(self.stand_in.control(content))
        elif self.stand_in.TAKES_POSTS:
            self._take(content)
        else:
            self._send(StandInResponse({}, status=405))

    def _take(self, content: bytes) -> None:
        parts = urlsplit(self.path)
        received = ReceivedRequest(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            content=content,
        )
        self._answer(received, self.stand_in.take(received))

    def _answer(self, received: ReceivedRequest, behaviour: _Behaviour) -> None:
        statuses = {Mode.FAIL: 500, Mode.RATE_LIMIT: 429, Mode.WRONG_KEY: 401}
        if status := statuses.get(behaviour.mode) or self.stand_in.refuse(received):
            pause = {"retry-after": f"{behaviour.seconds:.0f}"} if behaviour.mode == Mode.RATE_LIMIT else {}
            self._send(StandInResponse(self.stand_in.ERRORS.get(status, {}), status=status, headers=pause))
        elif behaviour.mode == Mode.NOT_JSON:
            self._send_bytes(b"<html><body>Bad gateway</body></html>", kind="text/html")
        elif behaviour.mode == Mode.HUGE:
            self._send_huge()
        else:
            if behaviour.mode == Mode.STALL:
                self.stand_in.closed.wait(behaviour.seconds)
            self._send_regular(received, behaviour.mode)

    def _send_regular(self, received: ReceivedRequest, mode: Mode) -> None:
        regular = self.stand_in.answer(received)
        if regular is None:
            self._send(StandInResponse(self.stand_in.ERRORS.get(404, {}), status=404))
        elif mode == Mode.WRONG_SHAPE:
            self._send(StandInResponse(_mistype(regular.body)))
        elif mode == Mode.CUT_SHORT:
            content = json.dumps(regular.body).encode()
            self._send_bytes(content[: len(content) // 2], promised=len(content))
            self.close_connection = True
        else:
            changed = self.stand_in.change(received, regular.body)
            self._send(StandInResponse(changed, regular.status, regular.headers))

    def _send(self, answer: StandInResponse) -> None:
        self._send_bytes(json.dumps(answer.body).encode(), status=answer.status, headers=answer.headers)

    def _send_bytes(
        self,
        content: bytes,
        *,
        status: int = 200,
        kind: str = "application/json",
        headers: Mapping[str, str] | None = None,
        promised: int | None = None,
    ) -> None:
        self.send_response(status)
        length = str(len(content) if promised is None else promised)
        for name, value in {"content-type": kind, "content-length": length, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _send_huge(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(_HUGE_PIECES * len(_PIECE)))
        self.end_headers()
        for _ in range(_HUGE_PIECES):
            self.wfile.write(_PIECE)

    def log_message(self, format: str, *args: Any) -> None:
        """Discard access logs: tests and the terminal have better output."""


def _mistype(value: Any) -> Any:
    """Return the same JSON with another type for every value."""
    if isinstance(value, dict):
        return {name: _mistype(member) for name, member in value.items()}
    if isinstance(value, list):
        return {"0": [_mistype(member) for member in value]} if value else {}
    if isinstance(value, str):
        return {"value": value}
    if isinstance(value, bool) or value is None:
        return "maybe"
    return [value]
