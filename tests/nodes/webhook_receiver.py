"""Webhook receivers on loopback, well-behaved or not, which verify what they get by the published library."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

from tests.nodes.json_server import QuietHandler, run_server

# Sends the response to a request through its handler.
Behaviour = Callable[["_Handler"], None]


@dataclass(frozen=True)
class Received:
    """A request, and whether its signature is valid."""

    message_id: str
    headers: dict[str, str]
    body: bytes
    event: Any
    is_genuine: bool


@dataclass
class Receiver:
    """A receiver's URL, its secret, and what it got. `behave` answers; by default with 204."""

    url: str = ""
    secret: str = "whsec_" + "A" * 43
    received: list[Received] = field(default_factory=list)
    behave: Behaviour = field(default=lambda handler: respond(handler, 204))
    # Set at the end: hanging requests then end.
    closed: threading.Event = field(default_factory=threading.Event)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def ids(self) -> list[str]:
        return [each.message_id for each in self.received]


class _Handler(QuietHandler):
    receiver: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            event, is_genuine = Webhook(self.receiver.secret).verify(body, headers), True
        except WebhookVerificationError:
            event, is_genuine = None, False
        self.receiver.received.append(Received(headers.get("webhook-id", ""), headers, body, event, is_genuine))
        self.receiver.behave(self)


def respond(handler: _Handler, status: int, *, body: bytes = b"", **headers: str) -> None:
    """Send a response; `retry_after="5"` is the header Retry-After."""
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def always(status: int, **more: Any) -> Behaviour:
    """Return the behaviour for a receiver that sends the same response to each request."""
    return lambda handler: respond(handler, status, **more)


def hang(handler: _Handler) -> None:
    """Send nothing."""
    handler.receiver.closed.wait()


def drip(handler: _Handler) -> None:
    """Accept, and send the body byte by byte for hours."""
    handler.send_response(200)
    handler.send_header("content-length", "100000")
    handler.end_headers()
    while not handler.receiver.closed.wait(0.05):
        handler.wfile.write(b".")


def huge(handler: _Handler) -> None:
    """Accept with a 30 MB body."""
    respond(handler, 200, body=b"x" * 30_000_000)


def raw(response: bytes) -> Behaviour:
    """Return the behaviour for a receiver that sends these bytes, and keeps the connection open."""

    def behave(handler: _Handler) -> None:
        handler.wfile.write(response)
        hang(handler)

    return behave


@contextmanager
def webhook_receiver(behave: Behaviour | None = None) -> Iterator[Receiver]:
    """Run a receiver while the block runs."""
    receiver = Receiver()
    if behave is not None:
        receiver.behave = behave
    with run_server(type("Handler", (_Handler,), {"receiver": receiver})) as receiver.url:
        try:
            yield receiver
        finally:
            receiver.closed.set()
