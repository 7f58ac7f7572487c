"""Remote signer on loopback with web3signer's API and signatures by eth-account; a test may hold it up.

A worker that calls it blocks within its transaction, after the nonce is taken and before anything is stored.
"""

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from eth_account import Account

from development.standins.loopback import Reply
from tests.nodes.json_server import serve_json

# A JSON-RPC response without its envelope: {"result": ...} or {"error": ...}.
Answer = dict[str, Any]


def refusal(message: str, *, code: int = -32000) -> Answer:
    """Return the error of a signer that has no such key, or whose policy forbids a transaction."""
    return {"error": {"code": code, "message": message}}


class FakeRemoteSigner:
    """The keys behind a URL.

    `hold` blocks later requests until `release`; `waiting` counts blocked ones. `change` gets the request
    and the regular response, and returns the response to send; `status` is HTTP's.
    """

    def __init__(self, private_keys: Iterable[str]) -> None:
        self.url = ""
        # Every request's parameters, in order of arrival.
        self.received: list[dict[str, str]] = []
        self.change: Callable[[dict[str, str], Answer], Answer] = lambda request, answer: answer
        self.status = 200
        self.waiting = 0
        self._keys = {Account.from_key(key).address: key for key in private_keys}
        self._open = threading.Event()
        self._open.set()
        self._lock = threading.Lock()

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(self._keys)

    def hold(self) -> None:
        self._open.clear()

    def release(self) -> None:
        self._open.set()

    def respond(self, body: dict[str, Any]) -> Reply:
        """Return the HTTP response to a parsed request."""
        envelope = {"jsonrpc": "2.0", "id": body["id"]}
        return Reply(json.dumps(envelope | self._answer(body)).encode(), status=self.status)

    def _answer(self, body: dict[str, Any]) -> Answer:
        (request,) = body["params"]
        self.received.append(request)
        with self._lock:
            self.waiting += 1
        self._open.wait()
        with self._lock:
            self.waiting -= 1
        if body["method"] != "eth_signTransaction":
            return refusal("Method not found", code=-32601)
        return self.change(request, self.sign(request))

    def sign(self, request: dict[str, str]) -> Answer:
        """Return the regular response: the raw transaction."""
        key = self._keys.get(request["from"])
        if key is None:
            return refusal("Signing from is not an unlocked account")
        numbers = ("chainId", "nonce", "value", "gas", "maxFeePerGas", "maxPriorityFeePerGas")
        transaction = {name: int(request[name], 16) for name in numbers} | {
            "to": request["to"],
            "data": request["data"],
        }
        return {"result": Account.sign_transaction(transaction | {"type": 2}, key).raw_transaction.to_0x_hex()}


@contextmanager
def remote_signer(*private_keys: str) -> Iterator[FakeRemoteSigner]:
    """Run a signer with these keys, in hex, while the block runs, on a free port."""
    signer = FakeRemoteSigner(private_keys)
    with serve_json(signer.respond) as signer.url:
        try:
            yield signer
        finally:
            signer.release()
