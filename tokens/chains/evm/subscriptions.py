"""New-head notifications over a WebSocket: `eth_subscribe` with `newHeads`.

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

from config.http.errors import RetryableError
from tokens.chains.evm.headers import read_header
from tokens.chains.rpc.endpoint import Endpoint
from tokens.chains.rpc.quantities import MalformedResponseError, parse_object
from tokens.chains.types import BlockHeader

# Its debug lines have URL paths, where providers put keys.
logging.getLogger("websockets").setLevel(logging.INFO)

# Ping interval, and timeout per ping, in seconds.
_PING_SECONDS = 10.0


class SubscriptionLostError(RetryableError):
    """The subscription to new heads failed or ended; the text has no part of the URL."""


class HeadSubscription:
    """A connection on which a node sends its new heads. For one thread."""

    def __init__(self, connection: ClientConnection, endpoint: Endpoint, *, timeout: float) -> None:
        self._connection, self._endpoint, self._timeout = connection, endpoint, timeout
        self._ids = itertools.count(1)
        self._name: object = None
        # Heads received since the last read; None is a malformed head.
        self._heads: list[BlockHeader | None] = []

    def subscribe(self, *, chain_id: int) -> None:
        """Subscribe after verifying the node's chain id. Raises SubscriptionLostError."""
        if self._call("eth_chainId") != hex(chain_id):
            raise self._lost("it is a node of another chain")
        self._name = self._call("eth_subscribe", "newHeads")
        if not isinstance(self._name, str):
            raise self._lost("a subscription without a name")

    def next_header(self, *, timeout: float) -> BlockHeader | None:
        """Return the newest head received since the last call; None after `timeout` seconds without one.

        The caller finds skipped blocks by their parents. Seconds without a block are normal on quiet chains; a
        connection that hangs is noticed by its pings. Raises SubscriptionLostError.
        """
        deadline = time.monotonic() + timeout
        while not self._heads and (message := self._receive(until=deadline)) is not None:
            self._handle(message)
        # Heads that arrived in the meantime are newer.
        while (message := self._receive(until=0.0)) is not None:
            self._handle(message)
        if not self._heads:
            return None
        newest, self._heads = self._heads[-1], []
        return newest or self._read_newest()

    def _read_newest(self) -> BlockHeader:
        """Query the newest block over the same connection: some nodes omit fields in notifications."""
        try:
            return read_header(self._call("eth_getBlockByNumber", "latest", False))
        except MalformedResponseError as error:
            raise self._lost(str(error)) from None

    def _call(self, method: str, *params: Any) -> Any:
        number = next(self._ids)
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        try:
            self._connection.send(orjson.dumps(request).decode())
        except (OSError, WebSocketException) as error:
            raise self._lost(f"no answer ({type(error).__name__})") from None
        deadline = time.monotonic() + self._timeout
        while (message := self._receive(until=deadline)) is not None:
            if message.get("id") != number:
                self._handle(message)
            elif message.get("error") is None and "result" in message:
                return message["result"]
            else:
                raise self._lost(f"it refused: {message.get('error')}")
        raise self._lost("a response that takes too long")

    def _receive(self, *, until: float) -> dict[str, Any] | None:
        """Return the next message; None where there is none until the deadline."""
        try:
            text = self._connection.recv(timeout=max(0.0, until - time.monotonic()))
            return parse_object(orjson.loads(text), of="a message")
        except TimeoutError:
            return None
        except (OSError, WebSocketException) as error:
            raise self._lost(f"the connection ended ({type(error).__name__})") from None
        except (orjson.JSONDecodeError, MalformedResponseError):
            raise self._lost("a message that is not JSON-RPC") from None

    def _handle(self, message: dict[str, Any]) -> None:
        """Store the head of a notification; ignore all other messages."""
        params = message.get("params")
        if not isinstance(params, dict) or self._name is None or params.get("subscription") != self._name:
            return
        try:
            self._heads.append(read_header(params.get("result")))
        except MalformedResponseError:
            self._heads.append(None)

    def _lost(self, reason: str) -> SubscriptionLostError:
        return SubscriptionLostError(f"the head subscription failed: {self._endpoint.redact(reason)}")


@contextmanager
def subscribe_new_heads(
    url: str, *, chain_id: int, timeout: float = 10.0, ping_seconds: float = _PING_SECONDS
) -> Iterator[HeadSubscription]:
    """Subscribe to a chain's new heads for the duration of the `with` block.

    `url` is a WebSocket URL. `timeout` is in seconds, for the connection and for each response. A connection is lost if
    a ping, sent every `ping_seconds`, is not acknowledged within the same time; the caller subscribes again. Raises
    SubscriptionLostError, also where the node belongs to another chain.
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
        raise SubscriptionLostError(f"the head subscription failed: no connection ({type(error).__name__})") from None
    with connection:
        subscription = HeadSubscription(connection, endpoint, timeout=timeout)
        subscription.subscribe(chain_id=chain_id)
        yield subscription
