"""JSON-RPC relay to a real node, with which a test can hold requests up or change responses."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests
from requests.adapters import HTTPAdapter

# The maximum number of open connections to the real node.
_CONNECTIONS = 32
# A JSON-RPC call or response, or a list of them.
Body = Any
# Calls the real node.
Forward = Callable[[Body], Body]


class NoResponseError(Exception):
    """Raised to end the connection without a response."""


def _just_forward(request: Body, forward: Forward) -> Body:
    return forward(request)


@contextmanager
def relay(
    rpc_url: str,
    *,
    before: Callable[[Body], None] = lambda request: None,
    change: Callable[[Body, Body], Body] = lambda request, answer: answer,
    instead: Callable[[Body, Forward], Body] = _just_forward,
) -> Iterator[str]:
    """Run the relay and yield its URL. `before` sees the request and may wait; `change` returns the response to send.

    `instead` replaces the forwarding, and so may skip or repeat it; it may raise NoResponseError.
    """
    node = requests.Session()
    node.mount("http://", HTTPAdapter(pool_connections=1, pool_maxsize=_CONNECTIONS))

    def forward(request: Body) -> Body:
        return node.post(rpc_url, json=request, timeout=30).json()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            before(request)
            try:
                answer = change(request, instead(request, forward))
            except NoResponseError:
                self.close_connection = True
                return
            content = json.dumps(answer).encode()
            try:
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except ConnectionError:
                # The client was killed meanwhile.
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            node.close()
