"""The Procfile's web server, and clients that hold connections to it: by unfinished requests and unread responses."""

import http.client
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

import psutil

from config.environment.server_urls import is_web_server_up
from development.servers.processes import free_port
from tests.processes.service_processes import HOST, Service
from tests.processes.waiting import wait_for

# Bystanders' requests: one that the process answers by itself, and one that takes a thread and the database.
_PATHS = ("/healthz", "/api/tokens?limit=1&n={}")
_BYSTANDERS = 12


class WebServer:
    """Web server with one process for all requests, unless settings change that."""

    def __init__(self, service: Service, port: int) -> None:
        self.service, self.port = service, port

    def connect(self, data: bytes = b"", *, address: str = HOST, receive_buffer: int = 0) -> socket.socket:
        """Open a connection from this address and send data."""
        client = socket.socket()
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.settimeout(60)
        client.bind((address, 0))
        client.connect((HOST, self.port))
        client.sendall(data)
        return client

    def fetch(self, method: str, path: str, body: bytes | None = None, **headers: str) -> http.client.HTTPResponse:
        """Send a request over its own connection; return its response, whose body is read by the caller."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=60)
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
        return connection.getresponse()

    def serve_bystanders(self) -> None:
        """Assert that other clients get their responses."""
        for number in range(_BYSTANDERS):
            for path in _PATHS:
                assert self.fetch("GET", path.format(number)).status == 200

    def processes(self) -> list[psutil.Process]:
        """Return the processes that serve requests, oldest first."""
        children = psutil.Process(self.service.process.pid).children()
        return sorted(children, key=lambda child: child.create_time())


@contextmanager
def own_web_server(environment: Mapping[str, str], **settings: str) -> Iterator[WebServer]:
    """Run a web server with these settings."""
    port = free_port()
    own = {"PORT": str(port), "WEB_WORKERS": "1", "ALLOWED_HOSTS": "*", "RATE_LIMIT_PUBLIC": "0"}
    service = Service("web", dict(environment) | own | settings)
    try:
        wait_for(lambda: is_web_server_up(HOST, port))
        yield WebServer(service, port)
    finally:
        service.kill()


def receive_all(client: socket.socket) -> bytes:
    """Return what the server sends until it closes the connection."""
    received = b""
    with suppress(ConnectionResetError):
        while part := client.recv(65_536):
            received += part
    return received


def receive_response(client: socket.socket) -> http.client.HTTPResponse:
    """Return the next response on the connection."""
    response = http.client.HTTPResponse(client)
    response.begin()
    return response


def drip(client: socket.socket, byte: bytes) -> bytes:
    """Send a byte, unless the server has sent something or closed the connection; return what it sent."""
    client.setblocking(False)
    with suppress(BlockingIOError):
        return client.recv(65_536) or b"closed"
    client.sendall(byte)
    return b""


def is_open(client: socket.socket) -> bool:
    """Return whether the server has neither sent anything nor closed the connection."""
    client.setblocking(False)
    try:
        client.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    return False
