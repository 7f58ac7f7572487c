"""A thousand stream clients in their own process, and an event writer."""

import json
import multiprocessing
import os
import re
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event as Signal
from typing import Any

import psycopg

from config.processes.open_files import raise_open_files
from tests.processes.service_processes import HOST

CLIENTS, EVENTS_PER_SECOND = 1_000, 10
_CONNECT_SECONDS = 30.0
_SENT = re.compile(rb'"sent":([0-9.]+)')
_INSERT = """
INSERT INTO events_outboxevent (type, version, chain_id, subject, data) VALUES ('token.updated', 1, 8453, %s, %s)
"""
# As long as a token event's data.
_DATA = {"contract_address": "0x" + "5f" * 20, "name": "Higher", "img_url": f"https://example.org/{'a' * 200}"}
_DATA |= dict.fromkeys(("tx_hash", "block_hash", "pool_address", "admin", "msg_sender", "factory"), "0x" + "ab" * 32)

# As long as the event in the stream.
_BARE_EVENT = b"-" * 900


@contextmanager
def stream_clients(port: int, query: str = "", *, is_background: bool = False) -> Iterator["Clients"]:
    """Connect the clients with a query, and read all that they get until the block ends.

    In the background they use only the time that no other process needs, as if they were on their own machines.
    """
    clients = Clients(port, query, is_background=is_background)
    try:
        yield clients
    finally:
        clients.close()


class Clients:
    """Clients in one process; they read and note when each event arrived."""

    def __init__(self, port: int, query: str, *, is_background: bool) -> None:
        context = multiprocessing.get_context("fork")
        self._here, there = context.Pipe()
        self._stop = context.Event()
        self._process = context.Process(target=_read, args=(there, self._stop, port, query, is_background))
        self._process.start()
        self._here.recv()

    def close(self) -> list[float]:
        """Disconnect, and return the seconds from each event's storage to each client, sorted."""
        if self._stop.is_set():
            return []
        self._stop.set()
        times: list[float] = self._here.recv()
        self._process.join()
        return sorted(times)


def _read(pipe: Connection, stop: Signal, port: int, query: str, is_background: bool) -> None:
    if is_background:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    raise_open_files(CLIENTS + 256)
    selector = selectors.EpollSelector()
    for _ in range(CLIENTS):
        client = socket.create_connection((HOST, port), timeout=_CONNECT_SECONDS)
        client.sendall(f"GET /api/tokens/stream{query} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ)
    pipe.send(None)
    # Nothing was read while the clients connected.
    begin = time.time()
    times: list[float] = []
    while not stop.is_set():
        for key, _ in selector.select(0.2):
            content = key.fileobj.recv(65_536)
            if not content:
                raise RuntimeError("the stream closed a connection")
            now = time.time()
            times += [now - sent for sent in map(float, _SENT.findall(content)) if sent >= begin]
    pipe.send(times)


@contextmanager
def bare_sender() -> Iterator[int]:
    """Yield the port of a process that sends as many bytes to as many clients in a bare loop: the floor."""
    with socket.create_server((HOST, 0), backlog=CLIENTS) as listening:
        process = multiprocessing.get_context("fork").Process(target=_send_bare, args=(listening,), daemon=True)
        process.start()
        try:
            yield listening.getsockname()[1]
        finally:
            process.kill()
            process.join()


def _send_bare(listening: socket.socket) -> None:
    raise_open_files(CLIENTS + 256)
    clients = [listening.accept()[0] for _ in range(CLIENTS)]
    while True:
        for client in clients:
            client.send(_BARE_EVENT)
        time.sleep(1 / EVENTS_PER_SECOND)


def store_event(connection: psycopg.Connection[Any], subject: str) -> None:
    """Store an event that has the time in its data."""
    data: dict[str, Any] = _DATA | {"sent": time.time()}
    connection.execute(_INSERT, [subject, json.dumps(data)])


class EventWriter:
    """Thread that stores events at a constant rate, as a service transaction does."""

    def __init__(self, database_url: str) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(database_url,))
        self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join()

    def _run(self, database_url: str) -> None:
        due, stored = time.monotonic(), 0
        with psycopg.connect(database_url, autocommit=True) as own:
            while not self._stop.wait(max(0.0, due - time.monotonic())):
                due += 1 / EVENTS_PER_SECOND
                store_event(own, str(stored))
                stored += 1
