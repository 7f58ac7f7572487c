"""A frozen PostgreSQL: the response deadline, the bound for one address's requests, and the liveness probe."""

import http.client
import json
import select
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from config.processes.concurrency_limits import REQUESTS_PER_ADDRESS, THREADS
from development.servers.processes import free_port
from tests.processes.own_environment import environment_on
from tests.processes.own_postgresql import OwnPostgres
from tests.processes.service_processes import HOST, web_service
from tests.processes.waiting import wait_for

pytestmark = pytest.mark.slow


@pytest.fixture
def postgres() -> Iterator[OwnPostgres]:
    # Not in pytest's directories: a socket's path may have 107 characters at most.
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o711)
        server = OwnPostgres(Path(place))
        try:
            yield server
        finally:
            server.resume()
            server.stop()


@contextmanager
def web_server(postgres: OwnPostgres, *, deadline: float) -> Iterator[int]:
    """Run a web process on this server with this response deadline; yield its port."""
    port = free_port()
    environment = environment_on("unused") | {
        "DATABASE_URL": postgres.url,
        "SECRET_KEY": settings.SECRET_KEY,
        "WEB_RESPONSE_TIMEOUT_SECONDS": str(deadline),
        "WEB_WORKERS": "1",
        "WEB_HOST": HOST,
    }
    with web_service(environment, port):
        yield port


def send(port: int, path: str, *, address: str = HOST) -> http.client.HTTPConnection:
    """Send a request from this address."""
    client = http.client.HTTPConnection(HOST, port, timeout=60, source_address=(address, 0))
    client.request("GET", path)
    return client


def test_a_frozen_database_costs_503_after_the_deadline(postgres: OwnPostgres) -> None:
    with web_server(postgres, deadline=1) as port:
        postgres.suspend()
        client = http.client.HTTPConnection(HOST, port, timeout=20)
        # More than there are threads: the last ones are queued.
        for number in range(6):
            client.request("GET", f"/api/tokens?limit={number + 1}")
            response = client.getresponse()
            assert (response.status, response.headers["Retry-After"]) == (503, "1")
            assert json.loads(response.read()) == {"error": "Service is temporarily unavailable"}
        postgres.resume()
        client.request("GET", "/healthz")
        assert client.getresponse().status == 200


def test_the_probe_needs_no_thread(postgres: OwnPostgres) -> None:
    with web_server(postgres, deadline=600) as port:
        postgres.suspend()
        held = [
            send(port, f"/api/tokens?limit={number + 1}", address=f"127.0.0.{number + 1}") for number in range(THREADS)
        ]
        for path in ("/healthz", "/healthz/"):
            probe = send(port, path).getresponse()
            assert (probe.status, json.loads(probe.read())) == (200, {"status": "ok"})
            assert probe.headers["X-Request-Id"] and probe.headers["Cache-Control"] == "no-store"
        postgres.resume()
        assert_run(*held)


def test_requests_of_one_address_are_bounded_before_they_wait_for_a_thread(postgres: OwnPostgres) -> None:
    with web_server(postgres, deadline=600) as port:
        postgres.suspend()
        held = [send(port, f"/api/tokens?limit=1&n={number}") for number in range(REQUESTS_PER_ADDRESS)]
        refused = wait_for(lambda: next(filter(is_refused, [send(port, "/api/tokens?limit=2")]), None)).getresponse()
        assert refused.status == 429 and refused.headers["Retry-After"] == "1"
        assert json.loads(refused.read()) == {"error": "Too many requests at once from this address"}
        assert refused.headers["Access-Control-Allow-Origin"] == "*"
        assert "Retry-After" in refused.headers["Access-Control-Expose-Headers"]
        other = send(port, "/api/tokens?limit=3", address="127.0.0.2")
        postgres.resume()
        assert_run(other, *held)


def assert_run(*clients: http.client.HTTPConnection) -> None:
    """Assert that a view ran for each client: the database has no tables."""
    assert {client.getresponse().status for client in clients} == {500}


def is_refused(client: http.client.HTTPConnection) -> bool:
    """Return whether the response has come, as it does for no request that waits; it is not read."""
    return bool(select.select([client.sock], [], [], 10)[0])
