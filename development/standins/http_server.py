"""What all stand-ins share: a real HTTP server on loopback that answers JSON, remembers requests, and can misbehave.

How it is to behave is said in the process by `behave`, and over HTTP by `POST /_control` with
`{"mode": "rate_limit", "times": 3, "seconds": 2}`; `GET /_control` tells the mode and how many requests came.
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

# So many requests are remembered, the last ones.
_REMEMBERED = 10_000
# A huge body goes on for so many pieces of a megabyte, or until the caller hangs up.
_HUGE_PIECES = 256
_PIECE = b" " * 1024 * 1024
_MAX_CONTROL_BYTES = 10_000
_MAX_POSTED_BYTES = 1024 * 1024


class Mode(StrEnum):
    """How requests are answered."""

    OK = "ok"
    # Status 500.
    FAIL = "fail"
    # The regular answer, after so many seconds.
    STALL = "stall"
    # Status 429; the seconds go out as Retry-After.
    RATE_LIMIT = "rate_limit"
    # Status 401, as for a key that the provider doesn't know.
    WRONG_KEY = "wrong_key"
    # Status 200 with a page of HTML, as from a proxy in between.
    NOT_JSON = "not_json"
    # Status 200 with JSON in which every value has another type than the documented one.
    WRONG_SHAPE = "wrong_shape"
    # Status 200 with a body that doesn't end for hundreds of megabytes.
    HUGE = "huge"
    # Status 200 with half of the body that its head promises.
    CUT_SHORT = "cut_short"


@dataclass(frozen=True)
class Asked:
    """A request that came in. Names of headers are in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    # What was posted, as it came.
    content: bytes = b""


@dataclass(frozen=True)
class Answer:
    """What goes out: any JSON value under a status."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Behaviour:
    mode: Mode = Mode.OK
    # How many requests are still to be answered so; None for all.
    times: int | None = None
    seconds: float = 0.0


class StandIn:
    """A server from `with` to its end. A subclass says in `answer` what the outside service would."""

    # The provider's bodies of errors, by status; what is missing has an empty object.
    ERRORS: Mapping[int, Any] = {}
    # Whether the outside service is asked by POST, and not by GET.
    TAKES_POSTS = False

    def __init__(self, port: int = 0) -> None:
        """Port 0 takes any free one. Raises OSError where the port is in use."""
        handler = type("Handler", (_Handler,), {"stand_in": self})
        self._server = _Server((HOST, port), handler)
        self.url = f"http://{HOST}:{self._server.server_port}"
        # Set at the end; whoever stalls waits for it.
        self.closed = threading.Event()
        # The last requests in order of arrival, those to the control path aside.
        self.asked: deque[Asked] = deque(maxlen=_REMEMBERED)
        # A test's own say: the status under which a request is refused, and a change of the regular body of an answer.
        self.refuse: Callable[[Asked], int | None] = lambda asked: None
        self.change: Callable[[Asked, Any], Any] = lambda asked, body: body
        self._behaviour = _Behaviour()
        self._lock = threading.Lock()
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, name=type(self).__name__, daemon=True
        )

    def answer(self, asked: Asked) -> Answer | None:
        """The outside service's answer to a request; None for a path that it does not have."""
        raise NotImplementedError

    def behave(self, mode: Mode, *, times: int | None = None, seconds: float = 5.0) -> None:
        """Answer the next requests in this mode: so many of them, or all until the next call.

        `seconds` is how long a stall takes, and what a rate limit asks for.
        """
        with self._lock:
            self._behaviour = _Behaviour(mode, times, seconds)

    def take(self, asked: Asked) -> _Behaviour:
        """Note a request; how it is to be answered."""
        with self._lock:
            self.asked.append(asked)
            taken = self._behaviour
            if taken.times is not None:
                left = taken.times - 1
                self._behaviour = _Behaviour(taken.mode, left, taken.seconds) if left > 0 else _Behaviour()
        return taken

    def control(self, content: bytes) -> Answer:
        """What `POST /_control` answers to its body; an empty one changes nothing."""
        if content:
            try:
                wish = json.loads(content)
                times, seconds = wish.get("times"), float(wish.get("seconds", 5.0))
                self.behave(Mode(wish["mode"]), times=None if times is None else int(times), seconds=seconds)
            except (ValueError, TypeError, KeyError, AttributeError):
                expected = f"a mode of {', '.join(Mode)}; times and seconds are numbers"
                return Answer({"error": f"expected {expected}"}, status=400)
        with self._lock:
            return Answer(
                {"mode": self._behaviour.mode, "times": self._behaviour.times, "requests": len(self.asked)},
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
    # A burst of callers is no reason to refuse some.
    request_queue_size = 128


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body go out in two writes; the second would wait for the caller's delayed acknowledgement.
    disable_nagle_algorithm = True
    stand_in: StandIn

    def handle(self) -> None:
        # Who asked may hang up at any moment.
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
            self._send(Answer({}, status=405))

    def _take(self, content: bytes) -> None:
        parts = urlsplit(self.path)
        asked = Asked(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            content=content,
        )
        self._answer(asked, self.stand_in.take(asked))

    def _answer(self, asked: Asked, behaviour: _Behaviour) -> None:
        statuses = {Mode.FAIL: 500, Mode.RATE_LIMIT: 429, Mode.WRONG_KEY: 401}
        if status := statuses.get(behaviour.mode) or self.stand_in.refuse(asked):
            pause = {"retry-after": f"{behaviour.seconds:.0f}"} if behaviour.mode == Mode.RATE_LIMIT else {}
            self._send(Answer(self.stand_in.ERRORS.get(status, {}), status=status, headers=pause))
        elif behaviour.mode == Mode.NOT_JSON:
            self._send_bytes(b"<html><body>Bad gateway</body></html>", kind="text/html")
        elif behaviour.mode == Mode.HUGE:
            self._send_huge()
        else:
            if behaviour.mode == Mode.STALL:
                self.stand_in.closed.wait(behaviour.seconds)
            self._send_regular(asked, behaviour.mode)

    def _send_regular(self, asked: Asked, mode: Mode) -> None:
        regular = self.stand_in.answer(asked)
        if regular is None:
            self._send(Answer(self.stand_in.ERRORS.get(404, {}), status=404))
        elif mode == Mode.WRONG_SHAPE:
            self._send(Answer(_mistype(regular.body)))
        elif mode == Mode.CUT_SHORT:
            content = json.dumps(regular.body).encode()
            self._send_bytes(content[: len(content) // 2], promised=len(content))
            self.close_connection = True
        else:
            changed = self.stand_in.change(asked, regular.body)
            self._send(Answer(changed, regular.status, regular.headers))

    def _send(self, answer: Answer) -> None:
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
        """Tests read their own output, and a terminal has better lines."""


def _mistype(value: Any) -> Any:
    """The same JSON, in which every value has another type than before."""
    if isinstance(value, dict):
        return {name: _mistype(part) for name, part in value.items()}
    if isinstance(value, list):
        return {"0": [_mistype(part) for part in value]} if value else {}
    if isinstance(value, str):
        return {"value": value}
    if isinstance(value, bool) or value is None:
        return "maybe"
    return [value]
