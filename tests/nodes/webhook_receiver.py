"""Webhook receivers on loopback, well-behaved or not, which verify what they get by the published library."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

from development.standins.loopback import ReceivedRequest, Reply, run_server

# Returns a receiver's response, or the bytes to send.
Behaviour = Callable[["Receiver"], Reply | Iterable[bytes]]


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
    behave: Behaviour = field(default=lambda _: Reply(status=204))
    # Set at the end: hanging requests then end.
    closed: threading.Event = field(default_factory=threading.Event)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def ids(self) -> list[str]:
        return [each.message_id for each in self.received]

    def respond(self, request: ReceivedRequest) -> Reply | Iterable[bytes]:
        """Verify and record a request, and return the response."""
        try:
            event, is_genuine = Webhook(self.secret).verify(request.content, dict(request.headers)), True
        except WebhookVerificationError:
            event, is_genuine = None, False
        message_id = request.headers.get("webhook-id", "")
        self.received.append(Received(message_id, dict(request.headers), request.content, event, is_genuine))
        return self.behave(self)


def always(status: int, *, body: bytes = b"", **headers: str) -> Behaviour:
    """Return the behaviour with the same response to each request; `retry_after="5"` is the header Retry-After."""
    reply = Reply(body, status, {name.replace("_", "-"): value for name, value in headers.items()})
    return lambda _: reply


def hang(receiver: Receiver) -> Iterable[bytes]:
    """Send nothing."""
    receiver.closed.wait()
    return ()


def drip(receiver: Receiver) -> Reply:
    """Accept, and send the body byte by byte for hours."""

    def parts() -> Iterator[bytes]:
        while not receiver.closed.wait(0.05):
            yield b"."

    return Reply(parts(), headers={"content-length": "100000"})


def raw(response: bytes) -> Behaviour:
    """Return the behaviour for a receiver that sends these bytes, and keeps the connection open."""

    def behave(receiver: Receiver) -> Iterator[bytes]:
        yield response
        receiver.closed.wait()

    return behave


# A 30 MB body.
huge = always(200, body=b"x" * 30_000_000)


@contextmanager
def webhook_receiver(behave: Behaviour | None = None) -> Iterator[Receiver]:
    """Run a receiver while the block runs."""
    receiver = Receiver()
    if behave is not None:
        receiver.behave = behave
    with run_server(receiver.respond) as receiver.url:
        try:
            yield receiver
        finally:
            receiver.closed.set()
