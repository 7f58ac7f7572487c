"""Base class for all stand-ins: a loopback HTTP server that responds with JSON, records requests, and can misbehave.

`behave` sets its mode within the process, or `POST /_control` with `{"mode": "rate_limit", "times": 3, "seconds": 2}`;
`GET /_control` returns the mode and the number of requests.
"""

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import repeat
from types import TracebackType
from typing import Any, Self

from development.standins.loopback import LoopbackServer, ReceivedRequest, Reply

CONTROL_PATH = "/_control"

# Number of recorded requests; only the newest are stored.
_REMEMBERED = 10_000
# A huge body's size in one-megabyte pieces, unless the caller disconnects first.
_HUGE_PIECES = 256
_PIECE = b" " * 1024 * 1024


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
class StandInResponse:
    """Response: any JSON value, with a status."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def encode(self) -> Reply:
        return Reply(json.dumps(self.body).encode(), self.status, self.headers)


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
        # Set when the server ends; stalled requests wait for it.
        self.closed = threading.Event()
        # The newest requests sorted by arrival, without requests to the control path.
        self.received: deque[ReceivedRequest] = deque(maxlen=_REMEMBERED)
        # Hooks for tests: the status that rejects a request, and a change to the regular body.
        self.refuse: Callable[[ReceivedRequest], int | None] = lambda received: None
        self.change: Callable[[ReceivedRequest, Any], Any] = lambda received, body: body
        self._behaviour = _Behaviour()
        self._lock = threading.Lock()
        self._server = LoopbackServer(self._respond, port)
        self.url = self._server.url

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
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closed.set()
        self._server.close()

    def _respond(self, received: ReceivedRequest) -> Reply:
        if received.path == CONTROL_PATH:
            return self.control(received.content).encode()
        if received.method != "GET" and not self.TAKES_POSTS:
            return Reply(b"{}", 405)
        behaviour = self.take(received)
        statuses = {Mode.FAIL: 500, Mode.RATE_LIMIT: 429, Mode.WRONG_KEY: 401}
        if status := statuses.get(behaviour.mode) or self.refuse(received):
            delay = {"retry-after": f"{behaviour.seconds:.0f}"} if behaviour.mode == Mode.RATE_LIMIT else {}
            return StandInResponse(self.ERRORS.get(status, {}), status, delay).encode()
        if behaviour.mode == Mode.NOT_JSON:
            return Reply(b"<html><body>Bad gateway</body></html>", headers={"content-type": "text/html"})
        if behaviour.mode == Mode.HUGE:
            length = {"content-length": str(_HUGE_PIECES * len(_PIECE))}
            return Reply(repeat(_PIECE, _HUGE_PIECES), headers=length)
        if behaviour.mode == Mode.STALL:
            self.closed.wait(behaviour.seconds)
        return self._regular(received, behaviour.mode)

    def _regular(self, received: ReceivedRequest, mode: Mode) -> Reply:
        response = self.answer(received)
        if response is None:
            return StandInResponse(self.ERRORS.get(404, {}), 404).encode()
        if mode == Mode.WRONG_SHAPE:
            return StandInResponse(_mistype(response.body)).encode()
        if mode == Mode.CUT_SHORT:
            content = json.dumps(response.body).encode()
            headers = {"content-length": str(len(content)), "connection": "close"}
            return Reply(content[: len(content) // 2], headers=headers)
        return StandInResponse(self.change(received, response.body), response.status, response.headers).encode()


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
