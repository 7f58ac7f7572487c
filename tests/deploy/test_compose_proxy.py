"""The compose file by the rules of its specification, and its Caddyfile in a real Caddy."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.environment.server_urls import is_web_server_up
from development.servers.processes import free_port
from tests.deploy.deploy_checkers import check_compose
from tests.deploy.deploy_files import COMPOSE, SITE_URL, compose_file, procfile
from tests.nodes.json_server import QuietHandler, run_server
from tests.processes.service_processes import HOST
from tests.processes.waiting import wait_for

pytestmark = pytest.mark.slow

_CADDY = Path(sys.executable).parent / "caddy"
_SERVERS = {"postgres", "valkey", "caddy"}
_FORGED = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}


class Upstream(QuietHandler):
    """Server that returns the headers and the length of each request."""

    name = ""
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = len(self.rfile.read(int(self.headers.get("content-length", 0))))
        body = json.dumps({"name": self.name, "path": self.path, "length": length, "headers": dict(self.headers)})
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    do_GET = do_POST


class Web(Upstream):
    """Upstream of all paths but one."""

    name = "web"


class Stream(Upstream):
    """Upstream of the stream, whose response goes on after the first event."""

    name = "stream"

    def do_GET(self) -> None:
        """Send one event, and then nothing until the client hangs up."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(b"id: 1\n\n")
        self.rfile.read(1)


@pytest.fixture
def caddy(tmp_path: Path) -> Iterator[int]:
    with run_server(Web) as web, run_server(Stream) as stream, run_caddy(tmp_path, web=web, stream=stream) as port:
        yield port


@contextmanager
def run_caddy(place: Path, *, web: str, stream: str) -> Iterator[int]:
    """Run Caddy by the Caddyfile, without TLS, in front of two URLs of this machine; yield its port."""
    port = free_port()
    environment = {
        "SITE_URL": f"http://{HOST}:{port}",
        "WEB_UPSTREAM": web.removeprefix("http://"),
        "STREAM_UPSTREAM": stream.removeprefix("http://"),
        "CADDY_ADMIN": f"{HOST}:{free_port()}",
        "XDG_DATA_HOME": str(place),
        "XDG_CONFIG_HOME": str(place),
    }
    command = [_CADDY, "run", "--config", COMPOSE / "Caddyfile", "--adapter", "caddyfile"]
    process = subprocess.Popen(command, env=environment, stderr=(place / "caddy.log").open("w"))
    try:
        wait_for(lambda: is_web_server_up(HOST, port))
        yield port
    finally:
        process.terminate()
        process.wait()


def call(port: int, method: str, path: str, body: bytes | None = None) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    connection.request(method, path, body, _FORGED)
    return connection.getresponse()


def test_the_compose_file_follows_the_specification() -> None:
    check_compose(compose_file())


def test_the_specification_is_enforced() -> None:
    broken = compose_file()
    broken["services"]["web"]["healthcheck"]["tries"] = 3
    with pytest.raises(ValueError, match="tries"):
        check_compose(broken)


@pytest.mark.parametrize("name", sorted({"migrate", *_SERVERS, *procfile()}))
def test_each_service_is_confined(name: str) -> None:
    service = compose_file()["services"][name]
    assert service["read_only"] and service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "caddy" else [])
    assert ("ports" in service) == (name == "caddy")
    assert "data" in service["networks"] or name == "caddy"
    if name != "migrate":
        assert service["restart"] == "unless-stopped" and service["healthcheck"]["test"]
        assert set(service["deploy"]["resources"]["limits"]) == {"memory", "pids"}
    if name in procfile():
        assert service["healthcheck"]["test"] == ["CMD", "deploy/check", name]
        assert service["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


def test_no_other_file_is_needed_than_the_guide_creates() -> None:
    found = compose_file()
    assert found["networks"]["data"] == {"internal": True}
    assert {entry["file"].partition("/")[0] for entry in found["secrets"].values()} == {"secrets"}
    assert {service["env_file"] for service in found["services"].values() if "env_file" in service} == {".env"}


def test_the_caddyfile_is_valid_for_a_site_with_tls(tmp_path: Path) -> None:
    command = [_CADDY, "validate", "--config", COMPOSE / "Caddyfile", "--adapter", "caddyfile"]
    environment = {"SITE_URL": SITE_URL, "XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "enabling automatic HTTP->HTTPS redirects" in done.stderr
    formatted = subprocess.run([_CADDY, "fmt", COMPOSE / "Caddyfile"], capture_output=True, text=True, check=False)
    assert formatted.stdout == (COMPOSE / "Caddyfile").read_text()


def test_the_proxy_replaces_what_clients_forge(caddy: int) -> None:
    response = json.load(call(caddy, "GET", "/api/tokens?limit=1"))
    headers = {name.lower(): text for name, text in response["headers"].items()}
    assert (response["name"], response["path"]) == ("web", "/api/tokens?limit=1")
    assert (headers["x-forwarded-for"], headers["x-forwarded-proto"]) == (HOST, "http")
    assert headers["host"] == f"{HOST}:{caddy}"


@pytest.mark.parametrize("path", ["/api/tokens/stream", "/api/tokens/stream/?chainId=8453"])
def test_an_event_of_the_stream_arrives_at_once(caddy: int, path: str) -> None:
    response = call(caddy, "GET", path)
    assert response.headers["content-type"] == "text/event-stream"
    assert response.readline() == b"id: 1\n"
    response.close()


def test_the_proxy_has_a_limit_of_bodies_above_that_of_the_service(caddy: int) -> None:
    assert json.load(call(caddy, "POST", "/api/tokens/deploy", os.urandom(9 << 20)))["length"] == 9 << 20
    assert call(caddy, "POST", "/api/tokens/deploy", os.urandom(17 << 20)).status == 413
