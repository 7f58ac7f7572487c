"""Mixed reads and index calls in their own process: as fast as responses come, or at a fixed rate.

At a fixed rate a request is due at its time whatever happened to earlier ones. The process has its own interpreter,
so that a run's checks cost the clients nothing.
"""

import http.client
import json
import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from config.processes.concurrency_limits import REQUESTS_PER_ADDRESS
from development.devchain.anvil import CHAIN_ID
from tests.chaos.harness import helper_process, receive
from tests.processes.service_processes import HOST
from tests.servers.deploy_clients import ADMIN

# A client that gets no response for so long counts the request as failed.
_TIMEOUT_SECONDS = 90.0
# Clients at a fixed rate: with a run's other clients, fewer than the requests that one address may have waiting.
# A request that no client was free to send within this time is dropped and counted.
_CLIENTS, _OVERDUE_SECONDS = REQUESTS_PER_ADDRESS - 16, 1.0
# Words in the names of sample tokens and launches.
_WORDS = ("Chaos", "doge", "moon", "pepe", "cat", "base")
# Paths, and how often each is requested.
MIX = {
    "/api/tokens?limit={limit}": 5,
    "/api/tokens/{chain}/{address}": 5,
    "/tokens/{chain}/{address}": 4,
    "/api/tokens/search?q={word}&limit={limit}": 2,
    "/api/tokens/{chain}/{address}/trades": 2,
    "/api/tokens/trending": 1,
    "/": 1,
    "/leaderboard": 1,
    "/status": 1,
    "POST /api/tokens/index": 2,
}


class Sample(NamedTuple):
    """A request: its kind, when it was due and when its response was complete by time.monotonic(), and its status.

    The status is 0 without a response; `is_refusal` is a 503 with Retry-After.
    """

    kind: str
    due: float
    ended: float
    status: int
    is_refusal: bool
    error: str


@dataclass(frozen=True, kw_only=True)
class Targets:
    """Where requests go: the port, (chain, address) for tokens, launch hashes, and the header with a key.

    `mix` has paths, and how often each is requested.
    """

    port: int
    tokens: Sequence[tuple[int, str]]
    hashes: Sequence[str]
    key: dict[str, str]
    mix: Mapping[str, int]


@dataclass
class LoadReport:
    """A load's requests, and how many were dropped because no client was free."""

    samples: list[Sample] = field(default_factory=list)
    dropped: int = 0


class PacedLoad:
    """The clients' process."""

    def __init__(self, pipe: "Connection[Any, Any]") -> None:
        self._pipe = pipe

    def measure_ceiling(self, targets: Targets, *, clients: int, seconds: float) -> float:
        """Return the successful responses per second to clients that each send the next request after a response."""
        self._pipe.send((targets, clients, 0.0))
        started = time.monotonic()
        # The pipe's other end sends nothing before it is ended.
        self._pipe.poll(seconds)
        report = self.finish()
        return sum(sample.status == 200 for sample in report.samples) / (time.monotonic() - started)

    def begin(self, targets: Targets, *, rate: float) -> None:
        """Send so many requests a second until `finish`."""
        self._pipe.send((targets, _CLIENTS, rate))

    def finish(self) -> LoadReport:
        """End the current load, and return its requests."""
        self._pipe.send(None)
        report: LoadReport = receive(self._pipe)
        return report


@contextmanager
def paced_load() -> Iterator[PacedLoad]:
    """Run the clients' process while the block runs."""
    with helper_process(_run) as pipe:
        yield PacedLoad(pipe)


def _run(pipe: "Connection[Any, Any]") -> None:
    while True:
        targets, clients, rate = pipe.recv()
        load = _Load(targets, rate)
        threads = [threading.Thread(target=load.send_all, args=(number,)) for number in range(clients)]
        for thread in threads:
            thread.start()
        pipe.recv()
        load.is_over.set()
        for thread in threads:
            thread.join()
        pipe.send(load.report)


class _Load:
    def __init__(self, targets: Targets, rate: float) -> None:
        self._targets, self._interval = targets, 1 / rate if rate else 0.0
        self.report, self.is_over = LoadReport(), threading.Event()
        self._next, self._lock = time.monotonic(), threading.Lock()

    def send_all(self, number: int) -> None:
        rng, connection = random.Random(number), http.client.HTTPConnection(HOST, self._targets.port)
        connection.timeout = _TIMEOUT_SECONDS
        while not self.is_over.is_set():
            due = self._claim()
            if self.is_over.wait(due - time.monotonic()):
                break
            self.report.samples.append(self._send(connection, rng, due))
            if self._interval:
                # A proxy that reads a new configuration closes idle connections, perhaps under the next request.
                connection.close()
        connection.close()

    def _claim(self) -> float:
        """Return the time of the next request to send."""
        with self._lock:
            now = time.monotonic()
            if not self._interval:
                return now
            while now - self._next > _OVERDUE_SECONDS:
                self._next += self._interval
                self.report.dropped += 1
            self._next += self._interval
            return self._next - self._interval

    def _send(self, connection: http.client.HTTPConnection, rng: random.Random, due: float) -> Sample:
        (kind,) = rng.choices(list(self._targets.mix), list(self._targets.mix.values()))
        chain, address = rng.choice(self._targets.tokens)
        path = kind.removeprefix("POST ").format(
            chain=chain, address=address, admin=ADMIN, limit=rng.randrange(1, 21), word=rng.choice(_WORDS)
        )
        try:
            if kind.startswith("POST"):
                body = json.dumps({"txHash": rng.choice(self._targets.hashes), "chainId": CHAIN_ID})
                headers = self._targets.key | {"content-type": "application/json"}
                connection.request("POST", path, body, headers)
            else:
                connection.request("GET", path)
            response = connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            return Sample(kind, due, time.monotonic(), 0, False, f"{path}: {error!r}")
        is_refusal = response.status == 503 and response.getheader("Retry-After") is not None
        text = "" if response.status == 200 or is_refusal else f"{path}: {content[:200]!r}"
        return Sample(kind, due, time.monotonic(), response.status, is_refusal, text)
