"""A node in between: passes JSON-RPC on to a real one, so that a test can hold requests up or change answers."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests
from requests.adapters import HTTPAdapter

# How many connections to the real node are kept.
_CONNECTIONS = 32
# A JSON-RPC call or answer, or a list of them.
Body = Any
# Asks the real node.
Forward = Callable[[Body], Body]


class NoAnswer(Exception):
    """Whoever asked gets none: the connection ends."""


def _just_forward(asked: Body, forward: Forward) -> Body:
    return forward(asked)


@contextmanager
def relay(
    rpc_url: str,
    *,
    before: Callable[[Body], None] = lambda asked: None,
    change: Callable[[Body, Body], Body] = lambda asked, answer: answer,
    instead: Callable[[Body, Forward], Body] = _just_forward,
) -> Iterator[str]:
    """The URL of the relay. `before` sees what is asked and may wait; `change` gives the answer to pass back.

    `instead` does what lies between, and so may leave out or repeat the asking itself; it may raise NoAnswer.
    """
    node = requests.Session()
    node.mount("http://", HTTPAdapter(pool_connections=1, pool_maxsize=_CONNECTIONS))

    def forward(asked: Body) -> Body:
        return node.post(rpc_url, json=asked, timeout=30).json()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            before(asked)
            try:
                answer = change(asked, instead(asked, forward))
            except NoAnswer:
                self.close_connection = True
                return
            content = json.dumps(answer).encode()
            try:
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except ConnectionError:
                # Who asked was killed meanwhile.
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            """Nothing to say."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            node.close()
