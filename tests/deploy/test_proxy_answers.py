"""The samples for nginx and Caddy: their own errors as other origins' scripts read them, and the URLs they pass on."""

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from development.servers.processes import free_port
from development.standins.loopback import run_server
from tests.deploy.test_compose_proxy import run_caddy, stream_upstream, web_upstream
from tests.processes.nginx import run_documented_nginx
from tests.processes.service_processes import HOST

pytestmark = pytest.mark.slow

# A limit as an operator adds it: two requests, and then one in a minute.
LIMIT = "limit_req zone=clients burst=1 nodelay;"
ZONE = "limit_req_zone $binary_remote_addr zone=clients:1m rate=1r/m;\n"
# More bytes than the samples accept.
LARGE = 17 << 20


class Upstreams:
    """Ports behind the proxies: servers that return the request's path, or none."""

    def __init__(self, web: int, stream: int) -> None:
        self.web, self.stream = web, stream

    def nginx(self, place: Path) -> AbstractContextManager[int]:
        return run_documented_nginx(place, web=self.web, stream=self.stream)

    def caddy(self, place: Path) -> AbstractContextManager[int]:
        return run_caddy(place, web=f"http://{HOST}:{self.web}", stream=f"http://{HOST}:{self.stream}")


RunProxy = Callable[[Upstreams, Path], AbstractContextManager[int]]
PROXIES = [pytest.param(Upstreams.nginx, id="nginx"), pytest.param(Upstreams.caddy, id="caddy")]


@pytest.fixture
def upstreams() -> Iterator[Upstreams]:
    with ExitStack() as stack:
        ports = [
            int(stack.enter_context(run_server(kind)).rpartition(":")[2]) for kind in (web_upstream, stream_upstream)
        ]
        yield Upstreams(*ports)


def fetch(port: int, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, Any, bytes]:
    """Return status, headers and body in a response to another origin's script."""
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    connection.request(method, path, body, {"Origin": "https://other.example"} | headers)
    response = connection.getresponse()
    return response.status, response.headers, response.read()


def assert_readable(headers: Any) -> None:
    """Assert that another origin's script can read the response and its Retry-After."""
    assert headers.get_all("Access-Control-Allow-Origin") == ["*"]
    assert "Retry-After" in headers["Access-Control-Expose-Headers"]
    assert headers.get_all("Cache-Control") == ["no-store"]
    assert headers["Content-Type"].startswith("application/json")


@pytest.mark.parametrize("run", PROXIES)
@pytest.mark.parametrize("path", ["/api/tokens", "/api/tokens/stream", "/"])
def test_a_script_reads_that_the_service_is_unavailable(run: RunProxy, path: str, tmp_path: Path) -> None:
    with run(Upstreams(free_port(), free_port()), tmp_path) as port:
        status, headers, body = fetch(port, "GET", path)
    assert (status, headers.get_all("Retry-After")) == (503, ["1"])
    assert json.loads(body) == {"error": "Service is temporarily unavailable"}
    assert_readable(headers)


@pytest.mark.parametrize("run", PROXIES)
def test_a_script_reads_that_a_body_is_too_large(run: RunProxy, upstreams: Upstreams, tmp_path: Path) -> None:
    with run(upstreams, tmp_path) as port, socket.create_connection((HOST, port), timeout=60) as client:
        client.sendall(
            f"POST /api/tokens/index HTTP/1.1\r\nHost: {HOST}:{port}\r\nContent-Length: {LARGE}\r\n\r\n".encode()
        )
        # nginx responds before it has read the body, Caddy when it is beyond the limit.
        with suppress(ConnectionError):
            client.sendall(bytes(LARGE))
        response = http.client.HTTPResponse(client)
        response.begin()
        assert response.status == 413 and json.loads(response.read()) == {"error": "Request body is too large"}
        assert_readable(response.headers)


@pytest.mark.parametrize("headers", [{}, {"X-Long": "a" * 40_000}], ids=["URL", "header"])
def test_a_script_reads_that_headers_are_too_large(
    upstreams: Upstreams, headers: dict[str, str], tmp_path: Path
) -> None:
    path = "/api/tokens" if headers else "/api/tokens?q=" + "a" * 40_000
    with upstreams.nginx(tmp_path) as port:
        status, answered, body = fetch(port, "GET", path, **headers)
    assert (status, json.loads(body)) == (431, {"error": "Request headers are too large"})
    assert_readable(answered)


def test_a_script_reads_the_limit_that_an_operator_adds_to_nginx(upstreams: Upstreams, tmp_path: Path) -> None:
    documented = run_documented_nginx(
        tmp_path, web=upstreams.web, stream=upstreams.stream, directives=LIMIT, before=ZONE
    )
    with documented as port:
        answers = [fetch(port, "GET", "/api/tokens") for _ in range(4)]
    status, headers, body = answers[-1]
    assert (status, headers["Retry-After"]) == (429, "1")
    assert json.loads(body) == {"error": "Too many requests. Please try again later."}
    assert_readable(headers)


@pytest.mark.parametrize("run", PROXIES)
@pytest.mark.parametrize("status", [429, 503, 404])
def test_responses_of_the_service_keep_their_headers(
    run: RunProxy, status: int, upstreams: Upstreams, tmp_path: Path
) -> None:
    with run(upstreams, tmp_path) as port:
        found, headers, body = fetch(port, "GET", f"/api/tokens?status={status}")
    assert found == status and json.loads(body)["name"] == "web"
    for name in ("Access-Control-Allow-Origin", "Retry-After", "Cache-Control"):
        assert headers[name] is None


@pytest.mark.parametrize("run", PROXIES)
def test_the_service_gets_the_urls_of_clients(run: RunProxy, upstreams: Upstreams, tmp_path: Path) -> None:
    paths = [
        *("/api/creators/a%2Fb", "/api/creators/a%252Fb", "//docs", "/de//evil.example/..", "/api//tokens?q=//"),
        *(
            "/a;b=c,d",
            "/%C3%A4?q=%C3%A4",
            "/api/tokens?cursor=" + "a" * 20_000,
            "/" + "a" * 8_200,
            "/docs?a=b?c#d"[:-2],
        ),
        *("/api/tokens/stream/x", "/api/tokens/streams"),
    ]
    with run(upstreams, tmp_path) as port:
        received = [json.loads(fetch(port, "GET", path)[2])["path"] for path in paths]
        token = json.loads(fetch(port, "GET", "/", Authorization="Bearer " + "a" * 20_000)[2])["headers"]
        with socket.create_connection((HOST, port), timeout=60) as client:
            client.sendall(f"GET /api/tokens/stream/?chainId=1 HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n".encode())
            response = http.client.HTTPResponse(client)
            response.begin()
            assert response.headers["Content-Type"] == "text/event-stream"
            response.close()
    assert received == paths
    assert len({name.lower(): value for name, value in token.items()}["authorization"]) == 20_007
