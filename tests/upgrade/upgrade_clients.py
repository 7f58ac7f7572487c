"""Clients of a whole service that index, deploy and plan: each request has one attempt, and each response is stored."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

import requests

from development.devchain.anvil import CHAIN_ID
from tests.faults.paced_load import Sample
from tests.processes.service_processes import HOST
from tests.servers.deploy_clients import ADMIN, Partner, order

_TIMEOUT_SECONDS = 60
# Between two attempts, and two looks for a launch.
_PAUSE_SECONDS = 0.05
# Launch requests are so many times rarer than others, and every fifth one is sent twice.
_LAUNCH_INTERVALS, _REPEATED = 5, 5


@dataclass(kw_only=True)
class Clients:
    """Clients by kind, each a thread, and what they got."""

    port: int
    partner: Partner
    key: Mapping[str, str]
    user: Mapping[str, str]
    # Seconds between two requests of a client.
    interval: float
    # Hashes of launches that are to be indexed.
    hashes: "SimpleQueue[str]" = field(default_factory=SimpleQueue)
    indexed: list[str] = field(default_factory=list)
    pretokens: list[str] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    # Errors in responses that succeeded, and of clients that ended.
    errors: list[str] = field(default_factory=list)
    _is_over: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Send requests while the block runs."""
        kinds = (self._index, self._deploy, self._plan)
        threads = [threading.Thread(target=self._repeat, args=(kind,)) for kind in kinds]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            for thread in threads:
                thread.join()

    def count(self, kind: str) -> int:
        """Return the number of successes of a kind."""
        return sum(sample.kind == kind and sample.status == 200 for sample in self.samples)

    def _repeat(self, kind: Callable[[], None]) -> None:
        try:
            kind()
        except (AssertionError, KeyError, ValueError, requests.RequestException) as error:
            self.errors.append(f"a client ended: {error!r}")

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
        started, status, error = time.monotonic(), 0, ""
        try:
            status = self.partner.order(body).status
        except requests.RequestException as failure:
            error = str(failure)
        # The proxy's log has the header Retry-After.
        self.samples.append(Sample("deployments", started, time.monotonic(), status, status == 503, error))
        return status not in (0, 503)

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
            pending = self._send("pretokens", "GET", "/api/pretoken/pending", headers=self.user)
            if pending and pretoken not in pending.text:
                self.errors.append(f"pretoken {pretoken} is not in the list of pending ones")
            self._send("pretokens", "DELETE", f"/api/pretoken/{pretoken}", headers=self.user)

    def _send(self, kind: str, method: str, path: str, **options: Any) -> requests.Response | None:
        """Return a successful response; None for any other, which is a failure, or 503 with Retry-After."""
        started, response, error = time.monotonic(), None, ""
        try:
            # No connection is kept: each request may meet another process.
            response = requests.request(method, f"http://{HOST}:{self.port}{path}", timeout=_TIMEOUT_SECONDS, **options)
        except requests.RequestException as failure:
            error = f"{method} {path}: {failure}"
        status = 0 if response is None else response.status_code
        is_refusal = response is not None and status == 503 and "Retry-After" in response.headers
        if response is not None and status != 200:
            error = f"{method} {path}: {response.text[:200]}"
        self.samples.append(Sample(kind, started, time.monotonic(), status, is_refusal, error))
        return response if status == 200 else None
