"""Partners' programs: they order deployments over HTTP, try again until they are answered, and keep every answer."""

import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import requests

from config.environment.variables import BASE_DIR
from development.devchain.anvil import CHAIN_ID
from tests.processes.service_processes import HOST

# Account 9 of the node: it only ever receives.
ADMIN = "0xa0Ee7A142d267C1f36714E4a8F75612F20a79720"
# What a program tries again for: a limit, an outage. Any other error of the service is final.
_AGAIN = frozenset({429, 502, 503, 504})
_PAUSE_SECONDS = 0.1
# Between two looks at an order.
_LOOK_SECONDS = 0.05


@dataclass(frozen=True)
class Answer:
    """What the service said: the status, and the body."""

    status: int
    body: dict[str, Any]


@dataclass
class Answers:
    """What partners were told, by (partner, request key): all answers to an order, the last one about it."""

    orders: dict[tuple[str, str], list[Answer]] = field(default_factory=dict)
    statuses: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, partner: str, request_key: str, answer: Answer) -> None:
        with self._lock:
            self.orders.setdefault((partner, request_key), []).append(answer)


class Partner:
    """A program of a partner; `key` is its partner key, `name` what the answers are kept under."""

    def __init__(self, name: str, key: str, port: int, answers: Answers) -> None:
        self.name, self.answers = name, answers
        self._url = f"http://{HOST}:{port}/api/tokens/deploy"
        self._header = {"x-api-key": key}

    def order(self, body: Mapping[str, Any]) -> Answer:
        """The answer to one try, kept where it is final. Raises requests' errors where there is none."""
        # No connection is kept: the next try may meet another process.
        got = requests.post(self._url, json=body, headers=self._header, timeout=30)
        answer = Answer(got.status_code, got.json())
        if answer.status not in _AGAIN:
            self.answers.note(self.name, body["token"]["requestKey"], answer)
        return answer

    def insist(self, body: Mapping[str, Any], *, seconds: float = 60.0) -> Answer:
        """Try until there is an answer that is final. Fails after the seconds."""
        deadline = time.monotonic() + seconds
        said: object = None
        while time.monotonic() < deadline:
            try:
                said = answer = self.order(body)
                if answer.status not in _AGAIN:
                    return answer
            except requests.RequestException as error:
                said = error
            time.sleep(_PAUSE_SECONDS)
        raise AssertionError(f"no answer within {seconds} s: {said}")

    def insist_at_once(self, body: Mapping[str, Any], count: int) -> list[Answer]:
        """What so many clients are told that order the same at the same time."""
        barrier = threading.Barrier(count, timeout=30)

        def client() -> Answer:
            barrier.wait()
            return self.insist(body)

        with ThreadPoolExecutor(count) as pool:
            return [task.result() for task in [pool.submit(client) for _ in range(count)]]

    def status(self, request_key: str) -> dict[str, Any] | None:
        """What has become of an order; None where nobody answers now."""
        try:
            got = requests.get(f"{self._url}/status/{request_key}", headers=self._header, timeout=30)
        except requests.RequestException:
            return None
        if got.status_code != 200:
            return None
        status: dict[str, Any] = got.json()
        self.answers.statuses[self.name, request_key] = status
        return status

    def wait(self, request_key: str, *, seconds: float = 30.0) -> dict[str, Any]:
        """What the order has come to, once it is indexed or failed. Fails after the seconds."""
        deadline = time.monotonic() + seconds
        while True:
            status = self.status(request_key)
            if status is not None and status["status"] in ("indexed", "failed"):
                return status
            assert time.monotonic() < deadline, f"after {seconds} s the order is {status}"
            time.sleep(_LOOK_SECONDS)


def order(name: str, *, request_key: str | None = None, **parts: Any) -> dict[str, Any]:
    """The body of an order on the development chain; `parts` are others of its top level, such as `devBuy`."""
    token = {"name": name, "symbol": "CRSH", "tokenAdmin": ADMIN, "requestKey": request_key or secrets.token_hex(16)}
    return {"token": token, "chainId": CHAIN_ID} | parts


def issue_keys(environment: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """New partner keys that may deploy, by these names."""
    command = (
        "import sys, django; django.setup(); from accounts import keys\n"
        "for name in sys.argv[1:]: print(keys.issue(name, scopes=['deploy', 'read']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", command, *names],
        cwd=BASE_DIR,
        env=dict(environment) | {"DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()
