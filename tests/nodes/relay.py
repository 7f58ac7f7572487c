"""JSON-RPC relay to a real node, with which a test can hold requests up or change responses."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import requests
from requests.adapters import HTTPAdapter

from development.standins.loopback import Reply
from tests.nodes.json_server import serve_json

# The maximum of open connections to the real node.
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

    def respond(request: Body) -> Reply | None:
        before(request)
        try:
            return Reply(json.dumps(change(request, instead(request, forward))).encode())
        except NoResponseError:
            return None

    with node, serve_json(respond) as url:
        yield url
