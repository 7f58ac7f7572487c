"""An HTTP server with scripted responses, which records the requests."""

import itertools
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from development.standins.loopback import ReceivedRequest, Reply, run_server


@dataclass(frozen=True)
class Request:
    """A request that the server got."""

    method: str
    # With the query.
    path: str
    headers: Mapping[str, str]
    body: bytes
    # By a monotonic clock.
    seconds: float


@dataclass
class ScriptedServer:
    """A server's URL, the responses that it has left, and the requests. None hangs up without a response."""

    url: str = ""
    script: list[Reply | None] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def respond(self, got: ReceivedRequest) -> Reply | None:
        """Record a request, and return the next response."""
        self.requests.append(Request(got.method, got.target, got.headers, got.content, time.monotonic()))
        return self.script.pop(0)

    def gaps(self) -> list[float]:
        """Return the seconds between the requests."""
        return [later.seconds - earlier.seconds for earlier, later in itertools.pairwise(self.requests)]


def page(entries: int, cursor: str | int | None) -> Reply:
    """Return a list page with so many entries."""
    return Reply(json.dumps({"data": [{}] * entries, "cursor": cursor}).encode())


@contextmanager
def scripted_server(*script: Reply | None) -> Iterator[ScriptedServer]:
    """Run a server while the block runs."""
    state = ScriptedServer(script=[*script])
    with run_server(state.respond) as state.url:
        yield state
