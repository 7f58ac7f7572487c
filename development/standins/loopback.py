"""HTTP/1.1 servers on loopback, each with a function that returns the response to a request; and JSON-RPC over them."""

import socket
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, urlsplit

HOST = "127.0.0.1"
# Accepts connection bursts.
_BACKLOG = 128


@dataclass(frozen=True)
class ReceivedRequest:
    """Received request. Header names are in lower case."""

    method: str
    # Path with the query, as sent.
    target: str
    headers: Mapping[str, str]
    content: bytes = b""

    @cached_property
    def path(self) -> str:
        return urlsplit(self.target).path

    @cached_property
    def query(self) -> Mapping[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))


@dataclass(frozen=True)
class Reply:
    """HTTP response. A body in parts is chunked unless the headers have its length; it may end early."""

    body: bytes | Iterable[bytes] = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


# Returns the response. Bytes are sent as they are, head included, and end the connection, as None does without any.
Respond = Callable[[ReceivedRequest], Reply | Iterable[bytes] | None]


class LoopbackServer:
    """Server with a thread per connection, from `start` until `close`."""

    def __init__(self, respond: Respond, port: int = 0, *, max_bytes: int = 2**30) -> None:
        """Bind the port, 0 for any free one; longer bodies get 413. Raises OSError if the port is in use."""
        self._respond, self._max_bytes = respond, max_bytes
        self._listening = socket.socket()
        self._listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listening.bind((HOST, port))
        self._listening.listen(_BACKLOG)
        self.port: int = self._listening.getsockname()[1]
        self.url = f"http://{HOST}:{self.port}"
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Accept no further connections."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        # Head and body may be two writes; the second would wait for the caller's delayed acknowledgement.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # The caller may disconnect at any moment.
        with connection, connection.makefile("rb") as incoming, suppress(ConnectionError):
            try:
                while self._serve_request(connection, incoming):
                    pass
            except ConnectionError:
                raise
            except Exception:  # As servers do: one request fails, and the others go on.
                traceback.print_exc()

    def _serve_request(self, connection: socket.socket, incoming: BinaryIO) -> bool:
        """Respond to the next request; return whether another may follow."""
        line = incoming.readline()
        if not line.strip():
            return False
        method, target, version = line.decode("latin-1").split()
        headers: dict[str, str] = {}
        while (line := incoming.readline()).strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        if headers.get("expect", "").lower() == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = int(headers.get("content-length", 0))
        if length > self._max_bytes:
            _send(connection, Reply(status=413), is_chunked=False)
            return False
        content = incoming.read(length)
        reply = self._respond(ReceivedRequest(method, target, headers, content))
        if not isinstance(reply, Reply):
            for part in reply or ():
                connection.sendall(part)
            return False
        is_last = version == "HTTP/1.0" or "close" in (headers.get("connection"), reply.headers.get("connection"))
        _send(connection, reply, is_chunked=version != "HTTP/1.0")
        return not is_last


def _send(connection: socket.socket, reply: Reply, *, is_chunked: bool) -> None:
    headers = {"content-type": "application/json", **{name.lower(): text for name, text in reply.headers.items()}}
    if isinstance(reply.body, bytes):
        headers.setdefault("content-length", str(len(reply.body)))
    is_chunked = is_chunked and "content-length" not in headers
    if is_chunked:
        headers["transfer-encoding"] = "chunked"
    lines = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    head = f"HTTP/1.1 {reply.status} -\r\n{lines}\r\n".encode("latin-1")
    if isinstance(reply.body, bytes):
        connection.sendall(head + reply.body)
        return
    connection.sendall(head)
    for part in reply.body:
        connection.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n" if is_chunked else part)
    if is_chunked:
        connection.sendall(b"0\r\n\r\n")


@contextmanager
def run_server(respond: Respond) -> Iterator[str]:
    """Run a server on a free port while the block runs, and yield its URL."""
    server = LoopbackServer(respond)
    server.start()
    try:
        yield server.url
    finally:
        server.close()


class RefusedError(Exception):
    """A JSON-RPC error as the response to a call."""

    def __init__(self, code: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | more


def answer_calls(body: Any, result: Callable[[Any], Any]) -> Any:
    """Return the JSON-RPC response to a call or a batch; `result` returns a call's result, or refuses it."""
    if isinstance(body, list):
        return [answer_calls(call, result) for call in body]
    if not isinstance(body, dict) or not isinstance(body.get("method"), str):
        return {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid request"}, "id": None}
    envelope = {"jsonrpc": "2.0", "id": body.get("id")}
    try:
        return envelope | {"result": result(body)}
    except RefusedError as refused:
        return envelope | {"error": refused.error}
