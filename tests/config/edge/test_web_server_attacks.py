"""The web server of the Procfile while a client sends too much, too slowly, or does not read: others are served."""

import json
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import psutil
import pytest

from tests.processes.slow_clients import (
    WebServer,
    drip,
    is_open,
    own_web_server,
    receive_all,
    receive_response,
)
from tests.processes.waiting import wait_for

MEBIBYTE = 1024 * 1024
SCRIPT = "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js"
# Requests of HTTP/2 by prior knowledge: preface and SETTINGS, then 8 streams whose headers are complete and whose
# bodies never come (RFC 9113, 3.4 and 6.2; field lines 83, 86 and 84 are POST, http and /).
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
STREAMS = b"".join(b"\x00\x00\x03\x01\x04" + number.to_bytes(4, "big") + b"\x83\x86\x84" for number in range(1, 17, 2))

StartServer = Callable[..., WebServer]


@pytest.fixture
def start(service_environment: dict[str, str]) -> Iterator[StartServer]:
    """Return a function that starts a web server with these settings."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(own_web_server(service_environment, **settings))


@pytest.fixture
def few_files() -> Iterator[Callable[[], None]]:
    """Let processes that start have 1,024 open files, and return a function that lets this one have more."""
    current, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, highest))
    yield lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (min(highest, 4096), highest))
    resource.setrlimit(resource.RLIMIT_NOFILE, (current, highest))


def post(path: str = "/api/tokens/index", *, length: int | None = None, key: dict[str, str] | None = None) -> bytes:
    """Return the head of a request with a body of this length, or chunked."""
    body = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    lines = [f"POST {path} HTTP/1.1", "Host: test", "Content-Type: application/json", body]
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in (key or {}).items()), "\r\n"]).encode()


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def test_http_2_is_refused(start: StartServer) -> None:
    server = start()
    clients = [server.connect(PREFACE + STREAMS) for _ in range(8)]
    assert {receive_all(client)[:8] for client in clients} <= {b"", b"HTTP/1.1"}
    server.serve_bystanders()


def test_headers_are_bounded_and_long_tokens_are_not_too_long(start: StartServer) -> None:
    server = start()
    token = server.fetch("GET", "/api/pretoken/pending", Authorization="Bearer " + "a" * 20_000)
    assert (token.status, token.read()) == (401, b'{"error":"Unauthorized"}')
    cookies = server.fetch("GET", "/api/tokens", Cookie="a=" + "b" * 20_000)
    assert cookies.status == 200
    # The header has no end: no request of it reaches the application.
    endless = server.connect(b"GET /healthz HTTP/1.1\r\nHost: test\r\nX-Long: " + b"a" * 40_000)
    assert receive_all(endless).startswith(b"HTTP/1.1 431 ")
    # The server passes more than its limit if it arrives at once: no parser gets it.
    for name, value in (("Content-Type", ";" * 300), ("If-None-Match", '"a",' * 9_000)):
        refused = server.fetch("POST", "/api/tokens/index", b"{}", **{name: value})
        assert (refused.status, refused.read()) == (431, b'{"error":"Request headers are too large"}')
    # Pages get a text.
    refused = server.fetch("GET", "/", X_Long="a" * 33_000)
    assert (refused.status, refused.read()) == (431, b"Request headers are too large\n")
    # Scripts of other origins can read which one it is.
    refused = server.fetch("GET", "/api/tokens", X_Long="a" * 33_000)
    assert refused.headers["Access-Control-Allow-Origin"] == "*"
    # A response from the cache has the same limits.
    assert server.fetch("GET", "/api/tokens", X_Long="a" * 33_000).status == 431


@pytest.mark.parametrize("path", ["/nope", "/admin/login/"])
def test_a_form_in_another_encoding_is_refused(start: StartServer, path: str) -> None:
    content_type = "application/x-www-form-urlencoded; charset=utf-16"
    refused = start().fetch("POST", path, b"a=1", Content_Type=content_type, Cookie="csrftoken=" + "a" * 32)
    assert (refused.status, refused.read()) == (415, b"Forms must be in UTF-8\n")


@pytest.mark.slow
def test_unfinished_headers_cost_others_nothing(start: StartServer, few_files: Callable[[], None]) -> None:
    server = start(WEB_HEADER_TIMEOUT_SECONDS="60")
    few_files()
    clients = [server.connect(b"GET /healthz HTTP/1.1\r\nHost: test\r\n") for _ in range(1_300)]
    server.serve_bystanders()
    assert all(is_open(client) for client in clients)


def test_headers_have_one_deadline_however_they_drip(start: StartServer) -> None:
    server = start(WEB_HEADER_TIMEOUT_SECONDS="1")
    silent, idle = server.connect(), server.connect(b"GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n")
    dripping = server.connect(b"GET /healthz HTTP/1.1\r\nHost: test\r\nX-Slow: ")
    assert wait_for(lambda: drip(dripping, b"a")) == b"closed"
    assert receive_all(silent) == b""
    # Between two requests as well.
    assert receive_all(idle).startswith(b"HTTP/1.1 200 ")


def test_unfinished_bodies_hold_no_thread(start: StartServer) -> None:
    server = start(OVERRIDE_WEB_BODY_TIMEOUT_SECONDS="600")
    clients = [server.connect(post(length=10)) for _ in range(20)]
    clients += [server.connect(post(length=10) + b"{") for _ in range(20)]
    clients += [server.connect(post() + chunk(b"{")) for _ in range(20)]
    server.serve_bystanders()
    assert all(is_open(client) for client in clients)


@pytest.mark.parametrize(
    ("head", "part"), [(post(length=1_000_000), b" "), (post(), chunk(b" "))], ids=["with a length", "chunked"]
)
def test_a_body_has_one_deadline_however_it_drips(start: StartServer, head: bytes, part: bytes) -> None:
    server = start(OVERRIDE_WEB_BODY_TIMEOUT_SECONDS="0.5")
    client = server.connect(head)
    assert wait_for(lambda: drip(client, part)).startswith(b"HTTP/1.1 408 ")
    server.serve_bystanders()


def test_an_incomplete_body_is_no_request(start: StartServer, index_key: dict[str, str]) -> None:
    server = start()
    for head, part in ((post(key=index_key), chunk(b"{}")), (post(length=10, key=index_key), b"{}")):
        client = server.connect(head + part)
        client.shutdown(socket.SHUT_WR)
        response = receive_response(client)
        assert (response.status, response.read()) == (400, b'{"error":"Request body is incomplete"}')


def test_a_body_over_the_limit_is_refused_before_its_end(
    start: StartServer, index_key: dict[str, str], deploy_key: dict[str, str]
) -> None:
    server = start()
    for path, key, limit in (
        ("/api/tokens/index", index_key, MEBIBYTE),
        ("/api/tokens/deploy", deploy_key, 8 * MEBIBYTE),
    ):
        declared = server.connect(post(path, length=limit + 1, key=key))
        chunked = server.connect(post(path, key=key) + chunk(b" " * limit) + chunk(b" "))
        for client in (declared, chunked):
            response = receive_response(client)
            assert (response.status, json.loads(response.read())["error"]) == (
                413,
                f"Request body is over {limit} bytes",
            )
        # The largest bodies arrive whole: this one is JSON only with its last byte.
        body = b"[" + b" " * (limit - 2) + b"]"
        for framed in (post(path, length=limit, key=key) + body, post(path, key=key) + chunk(body) + b"0\r\n\r\n"):
            response = receive_response(server.connect(framed))
            error = json.loads(response.read())["error"]
            assert response.status in (400, 413)
            assert error not in ("Malformed JSON", f"Request body is over {limit} bytes")


def test_a_body_is_refused_where_none_is_taken(start: StartServer) -> None:
    server = start()
    for method, path, status, error in (
        ("GET", "/healthz", 413, b'{"error":"A GET request takes no body"}'),
        ("GET", "/api/tokens", 413, b'{"error":"A GET request takes no body"}'),
        ("GET", "/docs", 413, b"A GET request takes no body\n"),
        ("DELETE", "/api/webhooks/1", 413, b'{"error":"A DELETE request takes no body"}'),
        ("POST", "/api/nope", 404, b'{"error":"Not found"}'),
        ("POST", "/", 405, b""),
    ):
        for framing, sent in (
            ("Content-Length: 999999999", b""),
            ("Transfer-Encoding: chunked", chunk(b" " * 300_000)),
        ):
            client = server.connect(f"{method} {path} HTTP/1.1\r\nHost: test\r\n{framing}\r\n\r\n".encode() + sent)
            response = receive_response(client)
            assert response.status == status, (method, path, framing)
            assert response.read().startswith(error)


def test_an_empty_chunked_body_is_none(start: StartServer) -> None:
    head = b"GET /healthz HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    assert receive_response(start().connect(head)).status == 200


def test_a_client_that_sends_all_of_a_refused_body_gets_the_response(
    start: StartServer, index_key: dict[str, str]
) -> None:
    server = start()
    body = b" " * (6 * MEBIBYTE)
    refused = server.fetch("POST", "/api/tokens/index", body, Content_Type="application/json", **index_key)
    assert refused.status == 413


def test_waiting_bodies_of_one_client_use_a_share_of_the_memory(start: StartServer, index_key: dict[str, str]) -> None:
    # A quarter is 8.25 MiB.
    server = start(OVERRIDE_WEB_BODY_MEMORY_MB="33", OVERRIDE_WEB_BODY_TIMEOUT_SECONDS="600")
    clients = [server.connect(post(length=MEBIBYTE) + b" " * (MEBIBYTE - 1)) for _ in range(12)]
    refused = wait_for(lambda: [client for client in clients if not is_open(client)])
    refused[0].setblocking(True)
    response = receive_response(refused[0])
    assert (response.status, response.getheader("Retry-After")) == (503, "1")
    other = server.connect(post(length=MEBIBYTE, key=index_key) + b" " * MEBIBYTE, address="127.0.0.2")
    assert receive_response(other).status == 400
    server.serve_bystanders()
    # The memory is free once they are gone.
    for client in clients:
        client.close()
    wait_for(lambda: receive_response(server.connect(post(length=MEBIBYTE) + b" " * MEBIBYTE)).status == 401)


def test_slow_readers_hold_no_thread(start: StartServer) -> None:
    server = start(EDGE_CACHE_SECONDS="0")
    length = len(server.fetch("GET", SCRIPT).read())
    # Together the responses to a client are longer than what the kernel's buffers hold.
    clients = [
        server.connect(f"GET {path} HTTP/1.1\r\nHost: test\r\n\r\n".encode() * 8, receive_buffer=4096)
        for path in (SCRIPT, "/api/openapi.json")
        for _ in range(12)
    ]
    for client in clients:
        # Responses have started.
        assert client.recv(8, socket.MSG_PEEK) == b"HTTP/1.1"
    server.serve_bystanders()
    assert len(receive_response(clients[0]).read()) == length > MEBIBYTE


def test_a_process_that_dies_is_replaced(start: StartServer) -> None:
    server = start()
    dead = server.processes()[0]
    dead.kill()
    wait_for(lambda: any(listens(process) for process in server.processes() if process != dead))
    server.serve_bystanders()


@pytest.mark.slow
def test_the_memory_of_a_large_request_is_returned(start: StartServer, index_key: dict[str, str]) -> None:
    server = start()
    process = server.processes()[0]
    server.serve_bystanders()
    before = process.memory_info().rss
    body = b'{"txHash":[' + b"[]," * 100_000 + b"[]]}"
    for _ in range(3):
        refused = server.fetch("POST", "/api/tokens/index", body, Content_Type="application/json", **index_key)
        assert refused.status == 400
        refused.read()
        wait_for(lambda: process.memory_info().rss < before + 64 * MEBIBYTE)


@pytest.mark.slow
def test_a_process_over_its_memory_is_replaced_and_finishes_its_requests(start: StartServer) -> None:
    # A process starts with some 150 MiB. What is over the limit while it starts may be killed before it responds.
    server = start(WEB_MAX_MEMORY_MB="320", OVERRIDE_WEB_BODY_MEMORY_MB="1024", OVERRIDE_WEB_BODY_TIMEOUT_SECONDS="600")
    old = server.processes()[0]
    begun = post("/api/tokens/deploy", length=7 * MEBIBYTE) + b" " * (7 * MEBIBYTE - 1)
    # One client may use a quarter of the memory.
    clients = [server.connect(begun, address=f"127.0.0.{number % 4 + 1}") for number in range(32)]
    wait_for(lambda: not listens(old))
    for client in clients:
        client.sendall(b"}")
    assert {receive_response(client).status for client in clients} == {401}
    wait_for(lambda: not old.is_running())


def test_a_stopping_server_finishes_its_requests(start: StartServer) -> None:
    server = start()
    process = server.processes()[0]
    client = server.connect(post(length=2) + b"{")
    server.service.process.send_signal(signal.SIGTERM)
    wait_for(lambda: not listens(process))
    client.sendall(b"}")
    assert receive_response(client).status == 401
    assert server.service.process.wait(60) == 0


def listens(process: psutil.Process) -> bool:
    """Return whether the process accepts connections."""
    try:
        return any(place.status == psutil.CONN_LISTEN for place in process.net_connections())
    except psutil.NoSuchProcess:
        return False
