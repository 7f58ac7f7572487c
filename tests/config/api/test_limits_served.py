"""Rate limits under the production server: shared by its processes, and per client address of the proxy header."""

import http.client
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPMessage

import pytest

from config.environment.variables import BASE_DIR
from tests.processes.waiting import wait_for

_LIMIT = 25
# An address without view and cache: nothing else is counted.
_ADDRESS = "/api/nothing"


@pytest.fixture
def served(service_environment: dict[str, str], unused_port: int) -> Iterator[int]:
    """Run the service behind one proxy, with two processes of four threads, and return its port."""
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "config.wsgi:application"]
    changes = {"RATE_LIMIT_PUBLIC": str(_LIMIT), "TRUSTED_PROXIES": "1", "ALLOWED_HOSTS": "*"}
    process = subprocess.Popen(
        [*command, "--port", str(unused_port), "--workers", "2", "--blocking-threads", "4", "--log-level", "warning"]
        # As in the Procfile: otherwise a worker could delay the end of the server without limit.
        + ["--workers-kill-timeout", "2s"],
        cwd=BASE_DIR,
        env=service_environment | changes,
    )
    try:
        wait_for(lambda: answers(unused_port))
        yield unused_port
    finally:
        process.terminate()
        process.wait(timeout=120)


def answers(port: int) -> bool:
    try:
        return fetch(port, "/healthz")[0] == 200
    except OSError:
        return False


def fetch(port: int, address: str, *forwarded: str) -> tuple[int, HTTPMessage]:
    """Return status and headers; each text of `forwarded` is sent in its own X-Forwarded-For."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest("GET", address)
    for text in forwarded:
        connection.putheader("X-Forwarded-For", text)
    connection.endheaders()
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers


def test_all_processes_count_together_and_each_caller_separately(served: int) -> None:
    with ThreadPoolExecutor(8) as pool:
        # The value written by the proxy's caller comes first, and differs each time.
        calls = [pool.submit(fetch, served, _ADDRESS, f"203.0.113.{number}", "198.51.100.7") for number in range(60)]
    assert Counter(call.result()[0] for call in calls) == {404: _LIMIT, 429: 60 - _LIMIT}

    def remaining(*forwarded: str) -> int:
        return int(fetch(served, _ADDRESS, *forwarded)[1]["RateLimit-Remaining"])

    assert remaining("198.51.100.8") == _LIMIT - 1
    # Without a usable header the address of the connection counts, without its port.
    assert remaining() == _LIMIT - 1
    assert remaining("unknown") == _LIMIT - 2
    assert remaining("127.0.0.1") == _LIMIT - 3
