"""Environment of a WSGI request, and the semantics of requests and responses on the real web server."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest

from config.edge.wsgi_environ import make_environ
from tests.processes.slow_clients import own_web_server, receive_response
from tests.processes.waiting import wait_for

SCRIPT = "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"


@dataclass
class Headers:
    """Headers as the web server passes them."""

    pairs: list[tuple[str, str]]

    def items(self) -> Iterable[tuple[str, str]]:
        return self.pairs


@dataclass
class Scope:
    """Request as the web server passes it."""

    headers: Headers = field(default_factory=lambda: Headers([("host", "test")]))
    path: str = "/api/tokens"
    query_string: str = "q=a%20b"
    client: str = "192.0.2.1:4711"
    server: str = "127.0.0.1:8000"
    authority: str | None = None
    http_version: str = "1.1"
    method: str = "GET"
    scheme: str = "http"


def test_it_has_the_request_line_and_both_addresses() -> None:
    environ = make_environ(Scope())
    assert (environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["QUERY_STRING"]) == (
        "GET",
        "/api/tokens",
        "q=a%20b",
    )
    assert (environ["REMOTE_ADDR"], environ["SERVER_NAME"], environ["SERVER_PORT"]) == (
        "192.0.2.1",
        "127.0.0.1",
        "8000",
    )
    assert (environ["SERVER_PROTOCOL"], environ["wsgi.url_scheme"], environ["HTTP_HOST"]) == (
        "HTTP/1.1",
        "http",
        "test",
    )


def test_it_has_ipv6_addresses_without_brackets_and_text_as_bytes() -> None:
    environ = make_environ(
        Scope(client="[2001:db8::1]:4711", server="[::1]:8000", path="/\u00e9", query_string="\u00e9")
    )
    assert (environ["REMOTE_ADDR"], environ["SERVER_NAME"]) == ("2001:db8::1", "::1")
    assert environ["PATH_INFO"].encode("latin-1").decode() == "/\u00e9"
    assert environ["QUERY_STRING"].encode("latin-1").decode() == "\u00e9"


def test_an_absolute_address_names_the_host_of_a_request_without_one() -> None:
    assert make_environ(Scope(headers=Headers([]), authority="a.example"))["HTTP_HOST"] == "a.example"
    assert make_environ(Scope(headers=Headers([])))["HTTP_HOST"] == ""


def test_repeated_headers_are_joined_and_underscores_are_no_hyphens() -> None:
    pairs = [
        ("host", "test"),
        ("x-forwarded-for", "192.0.2.2"),
        ("x-forwarded-for", "192.0.2.3"),
        ("x_forwarded_for", "192.0.2.4"),
        ("content_length", "5"),
        ("cookie", "a=1"),
        ("cookie", "b=2"),
        ("content-length", "7"),
        ("content-type", "text/plain"),
    ]
    environ = make_environ(Scope(headers=Headers(pairs)))
    assert environ["HTTP_X_FORWARDED_FOR"] == "192.0.2.2,192.0.2.3"
    assert environ["HTTP_COOKIE"] == "a=1;b=2"
    assert (environ["CONTENT_LENGTH"], environ["CONTENT_TYPE"]) == ("7", "text/plain")


@pytest.mark.parametrize("edge_cache_seconds", ["0", "60"])
def test_requests_keep_their_semantics(service_environment: dict[str, str], edge_cache_seconds: str) -> None:
    with own_web_server(service_environment, EDGE_CACHE_SECONDS=edge_cache_seconds) as server:
        listed = server.fetch("GET", "/api/tokens")
        etag, content = listed.getheader("ETag", ""), listed.read()
        assert (listed.status, listed.getheader("Server"), json.loads(content)["data"]) == (200, "granian", [])
        again = server.fetch("GET", "/api/tokens")
        assert again.read() == content
        if edge_cache_seconds == "0":
            assert again.getheader("Age") is None
        else:
            # A response counts from the start of its view, which takes long in a process that has just started.
            wait_for(lambda: server.fetch("GET", "/api/tokens").getheader("Age"))
        head = server.fetch("HEAD", "/api/tokens")
        assert (head.status, head.getheader("Content-Length"), head.read()) == (200, str(len(content)), b"")
        unchanged = server.fetch("GET", "/api/tokens", If_None_Match=etag)
        assert (unchanged.status, unchanged.read()) == (304, b"")
        # A file is sent by its name, a range of it as bytes.
        script = server.fetch("GET", SCRIPT).read()
        part = server.fetch("GET", SCRIPT, Range="bytes=10-19")
        assert (part.status, part.read()) == (206, script[10:20])
        assert int(server.fetch("HEAD", SCRIPT).getheader("Content-Length", "")) == len(script)
        # Several requests on one connection, and a client that waits for permission to send.
        client = server.connect(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
        assert receive_response(client).read() == b'{"status":"ok"}'
        client.sendall(
            b"POST /api/tokens/index HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        )
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"{}")
        assert receive_response(client).status == 401
