"""An HTTP server with scripted responses, which records the requests."""

import itertools
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.nodes.json_server import QuietHandler, Reply, run_server


@dataclass(frozen=True)
class Request:
    """A request that the server got."""

    method: str
    # With the query.
    path: str
    headers: dict[str, str]
    body: bytes
    # By a monotonic clock.
    seconds: float


@dataclass
class ScriptedServer:
    """A server's URL, the responses that it has left, and the requests. None hangs up without a response."""

    url: str = ""
    script: list[Reply | None] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def gaps(self) -> list[float]:
        """Return the seconds between the requests."""
        return [later.seconds - earlier.seconds for earlier, later in itertools.pairwise(self.requests)]


def page(entries: int, cursor: str | int | None) -> Reply:
    """Return a list page with so many entries."""
    return Reply(json.dumps({"data": [{}] * entries, "cursor": cursor}).encode())


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    server_state: ScriptedServer

    def _respond(self) -> None:
        state = self.server_state
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        state.requests.append(Request(self.command, self.path, headers, body, time.monotonic()))
        reply = state.script.pop(0)
        if reply is None:
            self.close_connection = True
            return
        assert isinstance(reply.body, bytes)
        self.send_response(reply.status)
        described = {"content-type": "application/json", "content-length": str(len(reply.body))}
        for name, value in {**described, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.body)

    do_GET = do_POST = do_PATCH = do_DELETE = _respond


@contextmanager
def scripted_server(*script: Reply | None) -> Iterator[ScriptedServer]:
    """Run a server while the block runs."""
    state = ScriptedServer(script=[*script])
    with run_server(type("Handler", (_Handler,), {"server_state": state})) as state.url:
        yield state
