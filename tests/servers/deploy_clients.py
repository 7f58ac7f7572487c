"""Partners' programs: they request deployments over HTTP, retry until they get a response, and store every response."""

import secrets
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import requests

from development.devchain.anvil import CHAIN_ID
from tests.processes.service_processes import HOST
from tests.processes.waiting import wait_for

# The node's account 9: it only ever receives.
ADMIN = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"
# Retried errors: rate limits and outages. Any other service error is final.
_AGAIN = frozenset({429, 502, 503, 504})
_PAUSE_SECONDS = 0.1
# A busy machine may take long for a response.
_TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Answer:
    """A service response: the status, and the body."""

    status: int
    body: dict[str, Any]


@dataclass
class Answers:
    """Responses to partners by (partner, request key): all responses to a request, the last one about its status."""

    orders: dict[tuple[str, str], list[Answer]] = field(default_factory=dict)
    statuses: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, partner: str, request_key: str, answer: Answer) -> None:
        with self._lock:
            self.orders.setdefault((partner, request_key), []).append(answer)


class Partner:
    """A partner's program; `key` is its partner key, `name` the partner in its stored responses."""

    def __init__(self, name: str, key: str, port: int, answers: Answers) -> None:
        self.name, self.answers = name, answers
        self._url = f"http://{HOST}:{port}/api/tokens/deploy"
        self._header = {"x-api-key": key}

    def order(self, body: Mapping[str, Any]) -> Answer:
        """Send a request once, and store its response where it is final.

        Raises requests' errors where there is none.
        """
        # No connection is kept: the next attempt may meet another process.
        got = requests.post(self._url, json=body, headers=self._header, timeout=_TIMEOUT_SECONDS)
        answer = Answer(got.status_code, got.json())
        if answer.status not in _AGAIN:
            self.answers.note(self.name, body["token"]["requestKey"], answer)
        return answer

    def request_until_final(self, body: Mapping[str, Any], *, seconds: float = 120.0) -> Answer:
        """Retry until there is a final response; fail after the seconds."""
        deadline = time.monotonic() + seconds
        latest: object = None
        while time.monotonic() < deadline:
            try:
                latest = answer = self.order(body)
                if answer.status not in _AGAIN:
                    return answer
            except requests.RequestException as error:
                latest = error
            time.sleep(_PAUSE_SECONDS)
        raise AssertionError(f"no answer within {seconds} s: {latest}")

    def request_at_once(self, body: Mapping[str, Any], count: int) -> list[Answer]:
        """Return the responses to clients that send the same request at the same time."""
        barrier = threading.Barrier(count, timeout=120)

        def client() -> Answer:
            barrier.wait()
            return self.request_until_final(body)

        with ThreadPoolExecutor(count) as pool:
            return [task.result() for task in [pool.submit(client) for _ in range(count)]]

    def status(self, request_key: str) -> dict[str, Any] | None:
        """Return a deployment's status; None where the service does not respond."""
        try:
            got = requests.get(f"{self._url}/status/{request_key}", headers=self._header, timeout=30)
        except requests.RequestException:
            return None
        if got.status_code != 200:
            return None
        status: dict[str, Any] = got.json()
        self.answers.statuses[self.name, request_key] = status
        return status

    def final_status(self, request_key: str) -> dict[str, Any] | None:
        """Return a deployment's status if it is indexed or failed."""
        status = self.status(request_key)
        return status if status is not None and status["status"] in ("indexed", "failed") else None

    def wait(self, request_key: str, *, seconds: float = 120.0) -> dict[str, Any]:
        """Return a deployment's status once it is indexed or failed; fail after the seconds."""
        status = wait_for(lambda: self.final_status(request_key), seconds=seconds)
        assert status is not None
        return status


def order(name: str, *, request_key: str | None = None, **parts: Any) -> dict[str, Any]:
    """Return a launch request on the development chain; `parts` are other top-level fields, such as `devBuy`."""
    token = {"name": name, "symbol": "CRSH", "tokenAdmin": ADMIN, "requestKey": request_key or secrets.token_hex(16)}
    return {"token": token, "chainId": CHAIN_ID} | parts
