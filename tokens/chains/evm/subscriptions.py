"""New blocks as a node tells of them by itself, over a WebSocket: `eth_subscribe` with `newHeads`.

https://geth.ethereum.org/docs/interacting-with-geth/rpc/pubsub
"""

import itertools
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from config.http.json_client import Retryable
from tokens.chains.evm.headers import read_header
from tokens.chains.rpc.endpoint import Endpoint
from tokens.chains.rpc.quantities import Malformed, read_object
from tokens.chains.types import BlockHeader

# Its debug lines hold the paths of URLs, where providers put keys.
logging.getLogger("websockets").setLevel(logging.INFO)

# Seconds between two pings, and seconds that the node has to answer one.
_PING_SECONDS = 10.0


class SubscriptionLost(Retryable):
    """The node does not tell of new blocks, or no longer; its text holds no part of the URL."""


class Subscription:
    """A connection on which a node tells of its new blocks. For one thread."""

    def __init__(self, connection: ClientConnection, endpoint: Endpoint, *, timeout: float) -> None:
        self._connection, self._endpoint, self._timeout = connection, endpoint, timeout
        self._ids = itertools.count(1)
        self._name: object = None
        # What was told since it was last asked for; None is a head that can't be read.
        self._told: list[BlockHeader | None] = []

    def begin(self, *, chain_id: int) -> None:
        """Subscribe, once the node has named this chain. Raises SubscriptionLost."""
        if self._ask("eth_chainId") != hex(chain_id):
            raise self._lost("it is a node of another chain")
        self._name = self._ask("eth_subscribe", "newHeads")
        if not isinstance(self._name, str):
            raise self._lost("a subscription without a name")

    def wait(self, *, seconds: float) -> BlockHeader | None:
        """The newest of the blocks that the node told of since the last time; None after so many seconds without one.

        Blocks in between are left to the caller, who finds them by their parents. Seconds without a block are normal on
        quiet chains; a connection that hangs is noticed by its pings. Raises SubscriptionLost.
        """
        deadline = time.monotonic() + seconds
        while not self._told and (message := self._receive(until=deadline)) is not None:
            self._take(message)
        # What has arrived in the meantime is newer.
        while (message := self._receive(until=0.0)) is not None:
            self._take(message)
        if not self._told:
            return None
        newest, self._told = self._told[-1], []
        return newest or self._read_newest()

    def _read_newest(self) -> BlockHeader:
        """The newest block, by a question on the same connection: some nodes leave out parts of what they tell."""
        try:
            return read_header(self._ask("eth_getBlockByNumber", "latest", False))
        except Malformed as error:
            raise self._lost(str(error)) from None

    def _ask(self, method: str, *params: Any) -> Any:
        number = next(self._ids)
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        try:
            self._connection.send(orjson.dumps(request).decode())
        except (OSError, WebSocketException) as error:
            raise self._lost(f"no answer ({type(error).__name__})") from None
        deadline = time.monotonic() + self._timeout
        while (message := self._receive(until=deadline)) is not None:
            if message.get("id") != number:
                self._take(message)
            elif message.get("error") is None and "result" in message:
                return message["result"]
            else:
                raise self._lost(f"it refused: {message.get('error')}")
        raise self._lost("an answer that takes too long")

    def _receive(self, *, until: float) -> dict[str, Any] | None:
        """The next message; None where there is none until then."""
        try:
            text = self._connection.recv(timeout=max(0.0, until - time.monotonic()))
            return read_object(orjson.loads(text), of="a message")
        except TimeoutError:
            return None
        except (OSError, WebSocketException) as error:
            raise self._lost(f"the connection ended ({type(error).__name__})") from None
        except (orjson.JSONDecodeError, Malformed):
            raise self._lost("a message that is not JSON-RPC") from None

    def _take(self, message: dict[str, Any]) -> None:
        """Note what a message tells of new blocks; others are about nothing that was asked."""
        params = message.get("params")
        if not isinstance(params, dict) or self._name is None or params.get("subscription") != self._name:
            return
        try:
            self._told.append(read_header(params.get("result")))
        except Malformed:
            self._told.append(None)

    def _lost(self, reason: str) -> SubscriptionLost:
        return SubscriptionLost(f"no new blocks are told: {self._endpoint.censor(reason)}")


@contextmanager
def subscribe(
    url: str, *, chain_id: int, timeout: float = 10.0, ping_seconds: float = _PING_SECONDS
) -> Iterator[Subscription]:
    """A subscription to the new blocks of a chain while the block runs.

    `url` is a WebSocket's. `timeout` is in seconds, for the connection and for each answer; a connection on which the
    node leaves a ping of every `ping_seconds` unanswered for as long is lost. Whoever wants it back subscribes anew.
    Raises SubscriptionLost, also where the node is one of another chain.
    """
    endpoint = Endpoint(url=url, number=1)
    try:
        connection = connect(
            url,
            open_timeout=timeout,
            close_timeout=1.0,
            ping_interval=ping_seconds,
            ping_timeout=ping_seconds,
            legacy=True,
        )
    except (OSError, WebSocketException, ValueError) as error:
        # `from None`: the cause's text holds the URL, and a traceback would print it.
        raise SubscriptionLost(f"no new blocks are told: no connection ({type(error).__name__})") from None
    with connection:
        subscription = Subscription(connection, endpoint, timeout=timeout)
        subscription.begin(chain_id=chain_id)
        yield subscription
