"""Load on an HTTP server: connections that are kept open, each with one request at a time.

The clients are separate processes and do as little as they can (prepared requests, one `recv` an answer where it
comes in one piece), because they share the machine with what they measure.
"""

import multiprocessing
import select
import socket
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection

from tests.processes.service_processes import HOST

_RECEIVE = 262_144


@dataclass(frozen=True)
class Load:
    """A load's outcome; times in seconds, sorted."""

    seconds: float
    times: Sequence[float]

    @property
    def rate(self) -> float:
        """Requests per second."""
        return len(self.times) / self.seconds

    def percentile(self, percent: float) -> float:
        """Return the time within which so many percent of requests were answered."""
        return percentile(self.times, percent)


def percentile(times: Sequence[float], percent: float) -> float:
    """Return the value that so many percent of these sorted values don't exceed."""
    return times[min(len(times) - 1, int(len(times) * percent / 100))]


def load(port: int, paths: Sequence[str], *, connections: int = 8, processes: int = 1, seconds: float = 5.0) -> Load:
    """Request the paths in turns, over so many connections in all, for so many seconds.

    Raises RuntimeError where a response is not 200.
    """
    requests = [_request(path) for path in paths]
    context = multiprocessing.get_context("fork")
    pipes = []
    for _ in range(processes):
        here, there = context.Pipe(duplex=False)
        client = context.Process(target=_run, args=(there, port, requests, connections // processes, seconds))
        client.start()
        pipes.append((here, client))
    times = array("d")
    for here, client in pipes:
        answer = here.recv()
        client.join()
        if isinstance(answer, str):
            raise RuntimeError(answer)
        times.frombytes(answer)
    return Load(seconds, sorted(times))


def fetch(path: str, connection: socket.socket) -> tuple[float, bytes]:
    """Return one request's time over an open connection, and its whole response."""
    started = time.perf_counter()
    connection.sendall(_request(path))
    answer = connection.recv(_RECEIVE)
    while len(answer) < (whole := _length(answer)) or not whole:
        answer += connection.recv(_RECEIVE)
    return time.perf_counter() - started, answer


def open_connection(port: int) -> socket.socket:
    """Return a connection for `fetch`."""
    connection = socket.create_connection((HOST, port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: {HOST}\r\nAccept: */*\r\n\r\n".encode()


def _length(answer: bytes) -> int:
    """Return the response length with its head; 0 while the head is incomplete."""
    end = answer.find(b"\r\n\r\n")
    if end < 0:
        return 0
    head = answer[:end].lower()
    place = head.index(b"content-length:") + len(b"content-length:")
    return end + 4 + int(head[place:].split(b"\r\n", 1)[0])


def _run(pipe: Connection, port: int, requests: Sequence[bytes], connections: int, seconds: float) -> None:
    try:
        pipe.send(_load(port, requests, connections, seconds).tobytes())
    except (OSError, RuntimeError) as error:
        pipe.send(f"{type(error).__name__}: {error}")


def _load(port: int, requests: Sequence[bytes], connections: int, seconds: float) -> "array[float]":
    clock, count = time.perf_counter, len(requests)
    poll = select.epoll()
    clients = {client.fileno(): client for client in (open_connection(port) for _ in range(connections))}
    started, answers, times = dict.fromkeys(clients, 0.0), dict.fromkeys(clients, b""), array("d")
    sent = 0
    for number, client in clients.items():
        poll.register(number, select.EPOLLIN)
        started[number] = clock()
        client.send(requests[sent % count])
        sent += 1
    begin, expected, now = clock(), 0, 0.0
    while now < begin + seconds:
        for number, _ in poll.poll():
            client = clients[number]
            answer = client.recv(_RECEIVE)
            if answers[number]:
                answer = answers[number] + answer
            # Responses are mostly as long as the one before, which spares reading their heads.
            if len(answer) != expected:
                expected = _length(answer)
                if len(answer) < expected or not expected:
                    answers[number] = answer
                    continue
            if answer[9:12] != b"200":
                raise RuntimeError(answer[:300].decode(errors="replace"))
            answers[number] = b""
            now = clock()
            times.append(now - started[number])
            started[number] = now
            client.send(requests[sent % count])
            sent += 1
    for client in clients.values():
        client.close()
    return times
