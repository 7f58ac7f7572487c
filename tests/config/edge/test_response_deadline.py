"""Deadline of responses: a request of a frozen PostgreSQL gets 503, and its connection serves the next one."""

import http.client
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from development.servers.processes import free_port
from tests.processes.own_environment import environment_on
from tests.processes.own_postgresql import OwnPostgres
from tests.processes.service_processes import HOST, web_service

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


def test_a_frozen_database_costs_503_after_the_deadline(postgres: OwnPostgres) -> None:
    port = free_port()
    environment = environment_on("unused") | {
        "DATABASE_URL": postgres.url,
        "SECRET_KEY": settings.SECRET_KEY,
        "WEB_RESPONSE_TIMEOUT_SECONDS": "1",
        "WEB_WORKERS": "1",
        "WEB_HOST": HOST,
    }
    with web_service(environment, port):
        client = http.client.HTTPConnection(HOST, port, timeout=20)
        postgres.suspend()
        # More than there are threads: the last ones are queued.
        for number in range(6):
            client.request("GET", f"/api/tokens?limit={number + 1}")
            response = client.getresponse()
            assert (response.status, response.headers["Retry-After"]) == (503, "1")
            assert json.loads(response.read()) == {"error": "Service is temporarily unavailable"}
        postgres.resume()
        client.request("GET", "/healthz")
        assert client.getresponse().status == 200
