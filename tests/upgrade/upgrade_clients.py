"""Clients of a service during an upgrade: every request has one attempt, and every response but a success is noted."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from queue import Empty, SimpleQueue
from typing import Any

import requests

from development.devchain.anvil import CHAIN_ID
from tests.chaos.deploy_clients import ADMIN, Partner, order
from tests.processes.service_processes import HOST

_TIMEOUT_SECONDS = 60
# Between two attempts, and two looks for a launch.
_PAUSE_SECONDS = 0.05
# Launch requests are so many times rarer than others, and every fifth one is sent twice.
_LAUNCH_INTERVALS, _REPEATED = 5, 5
PATHS = (
    "/api/tokens",
    "/",
    "/api/tokens/search?q=Chaos",
    "/status",
    "/api/tokens/trending",
    "/leaderboard",
    "/api/tokens?sort=asc",
    "/docs",
    "/creators/{admin}",
    "/api/tokens/{chain}/{address}",
    "/tokens/{chain}/{address}",
    "/api/tokens/{chain}/{address}/trades",
)


KINDS = ("reads", "index calls", "deployments", "pretokens")


@dataclass(kw_only=True)
class Clients:
    """Clients by kind, each a thread, and what they got."""

    port: int
    partner: Partner
    key: Mapping[str, str]
    user: Mapping[str, str]
    # Seconds between two requests of a client.
    interval: float
    # Paths of reads; those that the former version lacks are no part of a run.
    paths: Sequence[str] = PATHS
    # Hashes of launches that are to be indexed.
    hashes: "SimpleQueue[str]" = field(default_factory=SimpleQueue)
    indexed: list[str] = field(default_factory=list)
    pretokens: list[str] = field(default_factory=list)
    # Successful requests by kind, and those that got 503 with Retry-After.
    successes: Counter[str] = field(default_factory=Counter)
    retried: Counter[str] = field(default_factory=Counter)
    # The longest time until a response by kind, in seconds.
    slowest: dict[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    # Of each response the kind, the time of its end by time.monotonic(), and its status; 0 without a response.
    responses: list[tuple[str, float, int]] = field(default_factory=list)
    _is_over: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def choose_paths(self) -> None:
        """Drop the paths that the service does not have."""
        url = f"http://{HOST}:{self.port}"
        places = {"chain": CHAIN_ID, "address": ADMIN, "admin": ADMIN}
        # Every version has the paths of a token, which is unknown here.
        self.paths = [
            path
            for path in PATHS
            if "{address}" in path
            or requests.get(url + path.format(**places), timeout=_TIMEOUT_SECONDS).status_code != 404
        ]

    @contextmanager
    def at_work(self, *, readers: int) -> Iterator[None]:
        """Send requests while the block runs."""
        kinds: list[Callable[[], None]] = [*[self._read] * readers, self._index, self._deploy, self._plan]
        threads = [threading.Thread(target=self._repeat, args=(kind,)) for kind in kinds]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            for thread in threads:
                thread.join()

    def _repeat(self, kind: Callable[[], None]) -> None:
        try:
            kind()
        except (AssertionError, KeyError, ValueError, requests.RequestException) as error:
            self.failures.append(f"a client ended: {error!r}")

    def _read(self) -> None:
        newest: dict[str, Any] | None = None
        for path in cycle(self.paths):
            if self._is_over.wait(self.interval):
                return
            if path == PATHS[0] and (found := self._send("reads", "GET", path)):
                newest = next(iter(found.json()["data"]), None)
            elif newest is not None:
                chain, address = newest["chain_id"], newest["contract_address"]
                self._send("reads", "GET", path.format(chain=chain, address=address, admin=ADMIN))

    def _index(self) -> None:
        while not self._is_over.is_set():
            try:
                tx_hash = self.hashes.get(timeout=_PAUSE_SECONDS)
            except Empty:
                continue
            body = {"txHash": tx_hash, "chainId": CHAIN_ID}
            while not self._send("index calls", "POST", "/api/tokens/index", json=body, headers=self.key):
                if self._is_over.wait(_PAUSE_SECONDS):
                    return
            self.indexed.append(tx_hash)

    def _deploy(self) -> None:
        number = 0
        while not self._is_over.wait(_LAUNCH_INTERVALS * self.interval):
            number += 1
            body = order(f"Upgrade {number}")
            for _ in range(2 if number % _REPEATED == 0 else 1):
                while not self._request_launch(body):
                    # Until it has an answer, as every partner's program.
                    time.sleep(_PAUSE_SECONDS)

    def _request_launch(self, body: Mapping[str, Any]) -> bool:
        """Return whether the request has a final answer."""
        started = time.monotonic()
        try:
            answer = self.partner.order(body)
        except requests.RequestException as error:
            self.failures.append(f"POST /api/tokens/deploy: {error}")
            return False
        self._count("deployments", answer.status, time.monotonic() - started)
        # The proxy's log has the header Retry-After.
        return answer.status != 503

    def _plan(self) -> None:
        """Create a pretoken, find it in the list, and delete it, so that there is room."""
        number = 0
        while not self._is_over.wait(self.interval):
            number += 1
            admins = [{"admin": ADMIN, "recipient": ADMIN, "bps": 10_000}]
            token = {"name": "Doge", "symbol": "DOGE", "admins": admins}
            body = {"keyword": f"upgrade{number}", "chain_id": CHAIN_ID, "token_settings": token}
            created = self._send("pretokens", "POST", "/api/pretoken/v4", json=body, headers=self.user)
            if created is None:
                continue
            pretoken = str(created.json()["id"])
            self.pretokens.append(pretoken)
            found = self._send("pretokens", "GET", "/api/pretoken/pending", headers=self.user)
            if found and pretoken not in found.text:
                self.failures.append(f"pretoken {pretoken} is not in the list of pending ones")
            self._send("pretokens", "DELETE", f"/api/pretoken/{pretoken}", headers=self.user)

    def _send(self, kind: str, method: str, path: str, **options: Any) -> requests.Response | None:
        """Return a successful response; None for any other, which is a failure, or 503 with Retry-After."""
        started = time.monotonic()
        try:
            # No connection is kept: each request may meet another process.
            response = requests.request(method, f"http://{HOST}:{self.port}{path}", timeout=_TIMEOUT_SECONDS, **options)
        except requests.RequestException as error:
            self.failures.append(f"{method} {path}: {error}")
            return None
        status = response.status_code
        self._count(kind, status, time.monotonic() - started)
        if status == 503 and "Retry-After" in response.headers:
            return None
        if status != 200:
            self.failures.append(f"{method} {path}: {status} {response.text[:200]}")
            return None
        return response

    def _count(self, kind: str, status: int, seconds: float) -> None:
        with self._lock:
            self.responses.append((kind, time.monotonic(), status))
            (self.successes if status == 200 else self.retried)[kind] += 1
            self.slowest[kind] = max(self.slowest.get(kind, 0.0), round(seconds, 2))
