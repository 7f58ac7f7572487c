"""Webhook receivers in their own process: one event loop with a port for each; some misbehave.

A request costs little, so that twenty receivers with ten thousand events leave the processors to the service.
"""

import asyncio
import hashlib
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ctypes import c_uint64
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, cast

from standardwebhooks import Webhook, WebhookVerificationError

from tests.chaos.event_check import Receipt
from tests.processes.service_processes import HOST

HEALTHY = "healthy"
# Connections from several hundred threads at once.
_BACKLOG = 1024
_END_SECONDS = 60.0
_HUGE, _CHUNK = 30_000_000, b"x" * 65_536
_DRIP_SECONDS = 0.05

# Sends the response to a complete request; the number counts the receiver's requests so far.
Behaviour = Callable[["_Connection", int], None]


@dataclass
class Inbox:
    """All complete requests, and their bodies by digest."""

    receipts: list[Receipt] = field(default_factory=list)
    bodies: dict[bytes, bytes] = field(default_factory=dict)


class Receivers:
    """The running process: its receivers' ports, in the order of their behaviours."""

    def __init__(self, pipe: "Connection[Any, Any]", accepted: Any) -> None:
        self._pipe, self._accepted = pipe, accepted
        self.ports: list[int] = _received(pipe)

    def listen(self, secrets: Sequence[str], counted: Sequence[int]) -> None:
        """Verify requests by these secrets from now on; `counted` are the receivers whose requests are counted."""
        self._pipe.send((list(secrets), list(counted)))

    @property
    def accepted(self) -> int:
        """Return the request count for the counted receivers, repetitions included."""
        return int(self._accepted.value)

    def finish(self) -> Inbox:
        """End the receivers, and return what they got."""
        self._pipe.send(None)
        return cast(Inbox, _received(self._pipe))


@contextmanager
def receivers(behaviours: Sequence[str]) -> Iterator[Receivers]:
    """Run receivers, each with one of BEHAVIOURS, while the block runs."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    accepted = context.Value(c_uint64, lock=False)
    process = context.Process(target=_run, args=(theirs, accepted, list(behaviours)), daemon=True)
    process.start()
    theirs.close()
    try:
        yield Receivers(ours, accepted)
    finally:
        process.kill()
        process.join()


def _received(pipe: "Connection[Any, Any]") -> Any:
    assert pipe.poll(_END_SECONDS), "the receivers' process does not respond"
    return pipe.recv()


def _run(pipe: "Connection[Any, Any]", accepted: Any, behaviours: Sequence[str]) -> None:
    # It ends with its parent process.
    with suppress(EOFError, KeyboardInterrupt):
        asyncio.run(_serve(pipe, accepted, behaviours))


async def _serve(pipe: "Connection[Any, Any]", accepted: Any, behaviours: Sequence[str]) -> None:
    loop, inbox, ended = asyncio.get_running_loop(), Inbox(), asyncio.Event()
    ports = [_Port(number, BEHAVIOURS[name], inbox, accepted) for number, name in enumerate(behaviours)]
    servers = [await loop.create_server(port.connection, HOST, 0, backlog=_BACKLOG) for port in ports]
    pipe.send([server.sockets[0].getsockname()[1] for server in servers])
    for port, secret in zip(ports, (order := pipe.recv())[0], strict=True):
        port.webhook, port.is_counted = Webhook(secret), port.number in order[1]
    loop.add_reader(pipe.fileno(), ended.set)
    await ended.wait()
    loop.remove_reader(pipe.fileno())
    pipe.recv()
    pipe.send(inbox)


@dataclass
class _Port:
    """A receiver: its secret, and its request count."""

    number: int
    behave: Behaviour
    inbox: Inbox
    accepted: Any
    webhook: Webhook | None = None
    is_counted: bool = False
    requests: int = 0

    def connection(self) -> "_Connection":
        return _Connection(self)

    def store(self, began_at: float, headers: dict[str, str], body: bytes) -> None:
        """Store a request with its verification's result."""
        try:
            assert self.webhook is not None
            self.webhook.verify(body, headers)
            is_genuine = True
        except WebhookVerificationError:
            is_genuine = False
        digest = hashlib.sha256(body).digest()
        self.inbox.bodies.setdefault(digest, body)
        receipt = Receipt(self.number, began_at, headers.get("webhook-id", ""), is_genuine, digest)
        self.inbox.receipts.append(receipt)
        self.requests += 1
        self.accepted.value += self.is_counted


class _Connection(asyncio.Protocol):
    """One connection with one request."""

    transport: asyncio.Transport

    def __init__(self, port: _Port) -> None:
        self._port, self._data, self._is_complete = port, bytearray(), False
        # Response bytes that are still to be sent.
        self.left = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self._began_at = cast(asyncio.Transport, transport), time.monotonic()

    def data_received(self, data: bytes) -> None:
        if self._is_complete:
            return
        self._data += data
        head, separator, body = bytes(self._data).partition(b"\r\n\r\n")
        if not separator:
            return
        lines = head.decode().split("\r\n")[1:]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        if len(body) < int(headers["content-length"]):
            return
        self._is_complete = True
        self._port.store(self._began_at, headers, body)
        self._port.behave(self, self._port.requests)

    def respond(self, status: str, *, length: int = 0) -> None:
        """Send a response's head; close the connection if it has no body."""
        self.transport.write(f"HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n".encode())
        if not length:
            self.transport.close()

    def resume_writing(self) -> None:
        self.send_chunks()

    def send_chunks(self) -> None:
        """Send the rest of a large body, as far as the client reads it."""
        while self.left > 0 and not self.transport.is_closing() and not self.transport.get_write_buffer_size():
            self.left -= len(_CHUNK)
            self.transport.write(_CHUNK)

    def drip(self) -> None:
        """Send a byte of the body, and the next one after a while, until the client closes the connection."""
        if not self.transport.is_closing():
            self.transport.write(b".")
            asyncio.get_running_loop().call_later(_DRIP_SECONDS, self.drip)


def _accept(connection: _Connection, number: int) -> None:
    connection.respond("204 No Content")


def _hang(connection: _Connection, number: int) -> None:
    """Send nothing."""


def _drip(connection: _Connection, number: int) -> None:
    connection.respond("200 OK", length=100_000)
    connection.drip()


def _send_huge_body(connection: _Connection, number: int) -> None:
    # An empty buffer resumes the writing.
    connection.transport.set_write_buffer_limits(high=0)
    connection.left = _HUGE
    connection.respond("200 OK", length=_HUGE)
    connection.send_chunks()


def _redirect(connection: _Connection, number: int) -> None:
    connection.respond("307 Temporary Redirect\r\nlocation: http://169.254.169.254/latest/meta-data/")


def _fail(connection: _Connection, number: int) -> None:
    """Fail in three ways in turn."""
    if number % 3 == 0:
        connection.transport.abort()
    else:
        connection.respond("500 Internal Server Error" if number % 3 == 1 else "429 Too Many\r\nretry-after: 1")


BEHAVIOURS: dict[str, Behaviour] = {
    HEALTHY: _accept,
    "hangs": _hang,
    "drips": _drip,
    "huge body": _send_huge_body,
    "redirects": _redirect,
    "fails": _fail,
}
MISBEHAVIOURS = tuple(name for name in BEHAVIOURS if name != HEALTHY)
