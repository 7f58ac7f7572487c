"""Webhook receivers in their own process: one event loop with a port for each; some misbehave.

A request costs little, so that twenty receivers with ten thousand events leave the processors to the service.
"""

import asyncio
import hashlib
import multiprocessing
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ctypes import c_uint64
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, cast

from standardwebhooks import Webhook, WebhookVerificationError

from tests.chaos.event_check import Receipt
from tests.chaos.harness import helper_process, receive
from tests.processes.service_processes import HOST

HEALTHY = "healthy"
# Connections from several hundred threads at once.
_BACKLOG = 1024
_CHUNK, _CHUNKS = b"x" * 65_536, 458
_DRIP_SECONDS = 0.05

# Sends the response to a complete request; the number counts the receiver's requests so far.
Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[None]]


@dataclass
class Inbox:
    """All complete requests, and their bodies by digest."""

    receipts: list[Receipt] = field(default_factory=list)
    bodies: dict[bytes, bytes] = field(default_factory=dict)


class Receivers:
    """The running process: its receivers' ports, in the order of their behaviours."""

    def __init__(self, pipe: "Connection[Any, Any]", accepted: Any) -> None:
        self._pipe, self._accepted = pipe, accepted
        self.ports: list[int] = receive(pipe)

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
        return cast(Inbox, receive(self._pipe))


@contextmanager
def receivers(behaviours: Sequence[str]) -> Iterator[Receivers]:
    """Run receivers, each with one of BEHAVIOURS, while the block runs."""
    accepted = multiprocessing.get_context("spawn").Value(c_uint64, lock=False)
    with helper_process(_run, accepted, list(behaviours)) as pipe:
        yield Receivers(pipe, accepted)


def _run(pipe: "Connection[Any, Any]", accepted: Any, behaviours: Sequence[str]) -> None:
    asyncio.run(_serve(pipe, accepted, behaviours))


async def _serve(pipe: "Connection[Any, Any]", accepted: Any, behaviours: Sequence[str]) -> None:
    inbox, ended = Inbox(), asyncio.Event()
    ports = [_Port(number, BEHAVIOURS[name], inbox, accepted) for number, name in enumerate(behaviours)]
    listening = [await asyncio.start_server(port.serve, HOST, 0, backlog=_BACKLOG) for port in ports]
    pipe.send([server.sockets[0].getsockname()[1] for server in listening])
    secrets, counted = pipe.recv()
    for port, secret in zip(ports, secrets, strict=True):
        port.webhook, port.is_counted = Webhook(secret), port.number in counted
    loop = asyncio.get_running_loop()
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

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection with one request."""
        began_at = time.monotonic()
        with suppress(OSError, asyncio.IncompleteReadError):
            lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[1:]
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            self._store(began_at, headers, await reader.readexactly(int(headers["content-length"])))
            await self.behave(reader, writer, self.requests)
        writer.close()

    def _store(self, began_at: float, headers: dict[str, str], body: bytes) -> None:
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


def _respond(writer: asyncio.StreamWriter, status: str, *, length: int = 0) -> None:
    writer.write(f"HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n".encode())


async def _always(status: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
    _respond(writer, status)


async def _hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
    """Send nothing until the client closes the connection."""
    await reader.read()


async def _drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
    """Send the body byte by byte, until the client closes the connection."""
    _respond(writer, "200 OK", length=100_000)
    while not reader.at_eof():
        writer.write(b".")
        await writer.drain()
        await asyncio.sleep(_DRIP_SECONDS)


async def _send_huge_body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
    """Send 30 MB, as far as the client reads them."""
    _respond(writer, "200 OK", length=_CHUNKS * len(_CHUNK))
    for _ in range(_CHUNKS):
        writer.write(_CHUNK)
        await writer.drain()


async def _fail(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
    """Fail in three ways in turn."""
    if number % 3 == 0:
        writer.transport.abort()
    else:
        _respond(writer, "500 Internal Server Error" if number % 3 == 1 else "429 Too Many\r\nretry-after: 1")


BEHAVIOURS: dict[str, Behaviour] = {
    HEALTHY: partial(_always, "204 No Content"),
    "hangs": _hang,
    "drips": _drip,
    "huge body": _send_huge_body,
    "redirects": partial(_always, "307 Temporary Redirect\r\nlocation: http://169.254.169.254/latest/meta-data/"),
    "fails": _fail,
}
MISBEHAVIOURS = tuple(name for name in BEHAVIOURS if name != HEALTHY)
