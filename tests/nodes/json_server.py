"""HTTP servers on loopback; most answer a POST's JSON: the tests' nodes, signers and hosts."""

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson


@dataclass(frozen=True)
class Reply:
    """An HTTP response. A body in parts is sent chunked, until the caller hangs up."""

    body: bytes | Iterable[bytes]
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


# Returns the response to a parsed body; None ends the connection without one.
Answer = Callable[[Any], Reply | None]


class _Server(ThreadingHTTPServer):
    # Accepts connection bursts.
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report errors other than from callers that timed out or were killed meanwhile."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class QuietHandler(BaseHTTPRequestHandler):
    """Handler without a log, as tests read the output."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


class _JSONHandler(QuietHandler):
    protocol_version = "HTTP/1.1"
    # Head and body go out in two writes; the second would wait for the caller's delayed acknowledgement.
    disable_nagle_algorithm = True
    answer: Answer

    def do_POST(self) -> None:
        reply = type(self).answer(orjson.loads(self.rfile.read(int(self.headers["content-length"]))))
        if reply is None:
            self.close_connection = True
        else:
            self._send(reply)

    def do_GET(self) -> None:
        """Refuse; no client sends GET, except one that follows a redirect."""
        type(self).answer({"method": "GET", "params": [], "id": None})
        self.send_error(405)

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in {"content-type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        if isinstance(reply.body, bytes):
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)
            return
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for part in reply.body:
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")


@contextmanager
def serve_json(answer: Answer) -> Iterator[str]:
    """Run a server as `run_server`. `answer` runs in a thread per connection."""
    with run_server(type("Handler", (_JSONHandler,), {"answer": staticmethod(answer)})) as url:
        yield url


@contextmanager
def run_server(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Run a server on a free port while the block runs, and yield its URL."""
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
