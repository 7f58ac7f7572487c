"""The compose file by its specification's rules, and its Caddyfile in a real Caddy."""

import http.client
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from config.environment.server_urls import is_web_server_up
from development.servers.processes import free_port
from development.standins.loopback import ReceivedRequest, Reply, run_server
from tests.deploy.deploy_checkers import check_compose
from tests.deploy.deploy_files import COMPOSE, SITE_URL, compose_file, procfile
from tests.processes.nginx import port_is_open
from tests.processes.service_processes import HOST
from tests.processes.waiting import wait_for

pytestmark = pytest.mark.slow

_CADDY = Path(sys.executable).parent / "caddy"
_RELOAD = [_CADDY, "reload", "--config", COMPOSE / "Caddyfile", "--adapter", "caddyfile"]
_SERVERS = {"postgres", "valkey", "caddy"}
# Services that end, and those that only run during an upgrade.
_ONCE, _NEXT = {"migrate", "backup"}, {"web-next", "stream-next"}
_FORGED = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}


def upstream(name: str) -> Callable[[ReceivedRequest], Reply]:
    """Return a server's function that returns each request's headers and length, with the status in its query."""

    def respond(request: ReceivedRequest) -> Reply:
        echo = {"name": name, "path": request.target, "length": len(request.content), "headers": dict(request.headers)}
        return Reply(json.dumps(echo).encode(), int(request.query.get("status", 200)))

    return respond


web_upstream, next_upstream, _stream_posts = map(upstream, ("web", "web-next", "stream"))


def stream_upstream(request: ReceivedRequest) -> Reply | Iterator[bytes]:
    """Send one event in response to GET, and then nothing for a minute."""
    if request.method != "GET":
        return _stream_posts(request)

    def parts() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nid: 1\n\n"
        Event().wait(60)

    return parts()


@pytest.fixture
def caddy(tmp_path: Path) -> Iterator[int]:
    with (
        run_server(web_upstream) as web,
        run_server(stream_upstream) as stream,
        run_caddy(tmp_path, web=web, stream=stream) as port,
    ):
        yield port


def caddy_variables(place: Path, *, web: str, stream: str) -> dict[str, str]:
    """Return the environment for a Caddy without TLS in front of two local URLs."""
    return {
        "SITE_URL": f"http://{HOST}:{free_port()}",
        "WEB_UPSTREAM": web.removeprefix("http://"),
        "STREAM_UPSTREAM": stream.removeprefix("http://"),
        "CADDY_ADMIN": f"{HOST}:{free_port()}",
        "XDG_DATA_HOME": str(place),
        "XDG_CONFIG_HOME": str(place),
    }


@contextmanager
def run_caddy(place: Path, *, web: str, stream: str) -> Iterator[int]:
    """Run Caddy with the Caddyfile, without TLS, in front of two local URLs; yield its port."""
    variables = caddy_variables(place, web=web, stream=stream)
    with caddy_process(COMPOSE / "Caddyfile", "--adapter", "caddyfile", variables=variables):
        port = int(variables["SITE_URL"].rpartition(":")[2])
        wait_for(lambda: port_is_open(port))
        yield port


@contextmanager
def caddy_process(config: Path, *words: str, variables: dict[str, str]) -> Iterator[None]:
    """Run Caddy by a file while the block runs."""
    log = Path(variables["XDG_DATA_HOME"]) / "caddy.log"
    command = [_CADDY, "run", "--config", config, *words]
    process = subprocess.Popen(command, env=variables, stderr=log.open("w"))
    try:
        yield
    finally:
        process.terminate()
        process.wait()


class Load:
    """Requests from several threads until it is stopped, half with POST: upstream names and statuses."""

    def __init__(self, port: int) -> None:
        self.found: list[str | int] = []
        self._port, self._stopped = port, Event()
        self._threads = [Thread(target=self._call, args=(method,)) for method in ("GET", "POST") * 4]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _call(self, method: str) -> None:
        while not self._stopped.is_set():
            response = call(self._port, method, "/api/tokens", b"{}" if method == "POST" else None)
            body = response.read()
            self.found.append(json.loads(body)["name"] if response.status == 200 else response.status)


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


def test_every_service_is_one_that_is_tested() -> None:
    assert set(compose_file()["services"]) == {*_ONCE, *_SERVERS, *_NEXT, *procfile()}


@pytest.mark.parametrize("name", sorted({*_ONCE, *_SERVERS, *_NEXT, *procfile()}))
def test_each_service_is_confined(name: str) -> None:
    service = compose_file()["services"][name]
    assert service["read_only"] and service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "caddy" else [])
    assert ("ports" in service) == (name == "caddy")
    assert "data" in service["networks"] or name == "caddy"
    assert service.get("profiles") == {"backup": ["backup"]}.get(name, ["upgrade"] if name in _NEXT else None)
    if name not in _ONCE:
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


def test_the_proxy_accepts_larger_bodies_than_the_service(caddy: int) -> None:
    # tests/deploy/test_proxy_answers.py has its own limit.
    assert json.load(call(caddy, "POST", "/api/tokens/deploy", os.urandom(9 << 20)))["length"] == 9 << 20


def test_an_upgrade_exchanges_the_upstreams_without_a_failed_request(tmp_path: Path) -> None:
    with ExitStack() as stack:
        new = stack.enter_context(run_server(next_upstream))
        old = stack.enter_context(ExitStack())
        variables = caddy_variables(tmp_path, web=old.enter_context(run_server(web_upstream)), stream=new)
        stack.enter_context(caddy_process(COMPOSE / "Caddyfile", "--adapter", "caddyfile", variables=variables))
        port = int(variables["SITE_URL"].rpartition(":")[2])
        wait_for(lambda: is_web_server_up(HOST, port))
        load = stack.enter_context(Load(port))
        wait_for(lambda: load.found.count("web") > 100)
        # The guide's command, in the environment with another upstream.
        words = [*_RELOAD, "--address", variables["CADDY_ADMIN"]]
        subprocess.run(words, env=variables | {"WEB_UPSTREAM": new.removeprefix("http://")}, check=True)
        wait_for(lambda: set(load.found[-100:]) == {"web-next"})
        old.close()
        last = len(load.found)
        wait_for(lambda: len(load.found) > last + 100)
    assert set(load.found) == {"web", "web-next"}


def test_the_site_is_served_with_tls_and_http_is_redirected(tmp_path: Path) -> None:
    with run_server(web_upstream) as web:
        # For this name Caddy has its own certification authority, instead of the network's.
        variables = caddy_variables(tmp_path, web=web, stream=web) | {"SITE_URL": "https://localhost"}
        adapt = [_CADDY, "adapt", "--config", COMPOSE / "Caddyfile", "--adapter", "caddyfile"]
        config = json.loads(subprocess.run(adapt, env=variables, capture_output=True, check=True).stdout)
        http_port, https_port = free_port(), free_port()
        config["apps"]["http"] |= {"http_port": http_port, "https_port": https_port}
        # `free_port` claims the port by its UDP socket, which HTTP/3 would need.
        config["apps"]["http"]["servers"]["srv0"] |= {"listen": [f"{HOST}:{https_port}"], "protocols": ["h1", "h2"]}
        # This machine need not trust it.
        config["apps"]["pki"] = {"certificate_authorities": {"local": {"install_trust": False}}}
        (tmp_path / "caddy.json").write_text(json.dumps(config))
        authority = tmp_path / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        with caddy_process(tmp_path / "caddy.json", variables=variables):
            wait_for(lambda: authority.exists() and authority.read_text() and port_is_open(https_port))
            context = ssl.create_default_context(cafile=authority)
            secure = http.client.HTTPSConnection("localhost", https_port, context=context, timeout=60)
            # The certificate is made at the same time.
            wait_for(lambda: is_answered(secure))
            secure.request("GET", "/api/tokens", headers=_FORGED)
            headers = json.load(secure.getresponse())["headers"]
            plain = http.client.HTTPConnection("localhost", http_port, timeout=60)
            plain.request("GET", "/api/tokens")
            redirect = plain.getresponse()
    assert {name.lower(): text for name, text in headers.items()}["x-forwarded-proto"] == "https"
    assert (redirect.status, redirect.headers["location"]) == (308, "https://localhost/api/tokens")


def is_answered(connection: http.client.HTTPConnection) -> bool:
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().read() != b""
    except ssl.SSLError:
        connection.close()
        return False
