"""A simulated chain's nodes behind URLs on loopback: JSON-RPC over HTTP, new heads over a WebSocket."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any

import orjson
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection
from websockets.sync.server import serve as serve_websocket

from development.standins.loopback import RefusedError, Reply, answer_calls
from tests.nodes.json_server import serve_json
from tests.simulator.chain import Block, SimulatedChain
from tests.simulator.faults import Faults, Limits
from tests.simulator.node import Node
from tests.simulator.shapes import header_json

_ERRORS = (
    Reply(b'{"jsonrpc":"2.0","id":null,"error":{"code":429,"message":"Too Many Requests"}}', status=429),
    Reply(b"<html>Internal Server Error</html>", status=500),
    Reply(b"<html>Bad Gateway</html>", status=502),
    Reply(b"", status=503),
)
_REFUSALS = ({"code": -32005, "message": "limit exceeded"}, {"code": -32603, "message": "internal error"})


@contextmanager
def serve(
    chain: SimulatedChain,
    *,
    seed: int = 0,
    faults: Faults | None = None,
    limits: Limits | None = None,
) -> Iterator[Node]:
    """Run a node while the block runs, on free ports."""
    node = Node(chain, seed, faults or Faults(), limits or Limits())
    with ExitStack() as stack:
        node.url = stack.enter_context(serve_json(partial(respond, node))) + "/sim"
        announcer = _Announcer(node)
        websockets = stack.enter_context(serve_websocket(announcer.handle, "127.0.0.1", 0))
        node.websocket_url = f"ws://127.0.0.1:{websockets.socket.getsockname()[1]}/sim"
        chain.listeners.append(announcer.announce)
        threading.Thread(target=websockets.serve_forever, daemon=True).start()
        try:
            yield node
        finally:
            chain.listeners.remove(announcer.announce)
            websockets.shutdown()


def respond(node: Node, body: Any) -> Reply | None:
    """Return the HTTP response to a parsed request; None where the connection just ends."""
    faults = node.faults
    node.requests += 1
    if node.draw(faults.dropped):
        return None
    if node.draw(faults.hangs):
        time.sleep(faults.hang_seconds)
    if node.draw(faults.errors):
        picked = node.pick(len(_ERRORS) + len(_REFUSALS))
        return _ERRORS[picked] if picked < len(_ERRORS) else Reply(_refuse(body, _REFUSALS[picked - len(_ERRORS)]))
    reply = _reply(node, body)
    if node.draw(faults.halves):
        return Reply(_halve(node, reply))
    return Reply(orjson.dumps(reply))


def _reply(node: Node, body: Any) -> Any:
    view, most = node.view(), node.limits.batch
    if most is not None and isinstance(body, list) and len(body) > most:
        return {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": f"batch of more than {most}"}}
    return answer_calls(body, lambda call: view.answer(call["method"], call.get("params") or ()))


def _refuse(body: Any, error: Any) -> bytes:
    def refuse(call: Any) -> Any:
        raise RefusedError(**error)

    return orjson.dumps(answer_calls(body, refuse))


def _halve(node: Node, reply: Any) -> bytes:
    """Return a partial response: a cut body, or one without a reply in the batch, its result or a field."""
    replies = reply if isinstance(reply, list) else [reply]
    chosen = node.pick(4)
    victim = replies[node.pick(len(replies))] if replies else {}
    if chosen == 0:
        whole = orjson.dumps(reply)
        return whole[: len(whole) // 2]
    if chosen == 1 and isinstance(reply, list) and reply:
        reply.remove(victim)
    elif chosen == 2:
        victim.pop("result", None)
    else:
        result = victim.get("result")
        thing = result[node.pick(len(result))] if isinstance(result, list) and result else result
        if isinstance(thing, dict):
            names = sorted(thing.keys() & {"blockHash", "topics", "data", "logIndex", "hash", "parentHash", "logs"})
            # A copy, because the node's own object must stay whole.
            broken = {name: value for name, value in thing.items() if name != names[node.pick(len(names))]}
            if isinstance(result, list):
                victim["result"] = [broken if part is thing else part for part in result]
            else:
                victim["result"] = broken
        else:
            victim["result"] = None
    return orjson.dumps(reply)


class _Announcer:
    """Publisher that sends new heads to subscribers."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._lock = threading.Lock()
        # Connection -> its subscriptions' ids.
        self._subscribers: dict[ServerConnection, list[str]] = {}

    def handle(self, connection: ServerConnection) -> None:
        """Handle one connection until it ends."""
        try:
            for text in connection:
                body = orjson.loads(text)
                connection.send(orjson.dumps(self._answer(connection, body)).decode())
        except ConnectionClosed:
            pass
        finally:
            with self._lock:
                self._subscribers.pop(connection, None)

    def announce(self, block: Block) -> None:
        """Publish a new block, unless a fault prevents it."""
        faults = self.node.faults
        with self._lock:
            subscribers = [(connection, list(ids)) for connection, ids in self._subscribers.items()]
        for connection, ids in subscribers:
            if self.node.draw(faults.unannounced):
                continue
            # Notifications are as far behind as the node.
            visible = self.node.pinned or self.node.chain.blocks
            if faults.behind:
                block = visible[max(0, len(visible) - 1 - faults.behind)]
            with suppress(ConnectionClosed):
                if self.node.draw(faults.disconnected):
                    connection.close()
                for subscription in ids:
                    params = {"subscription": subscription, "result": header_json(block)}
                    notification = {"jsonrpc": "2.0", "method": "eth_subscription", "params": params}
                    connection.send(orjson.dumps(notification).decode())

    def _answer(self, connection: ServerConnection, body: Any) -> Any:
        calls = body if isinstance(body, list) else [body]
        replies = [self._subscribe(connection, call) or _reply(self.node, call) for call in calls]
        return replies if isinstance(body, list) else replies[0]

    def _subscribe(self, connection: ServerConnection, call: Any) -> Any:
        envelope = {"jsonrpc": "2.0", "id": call["id"]}
        if call["method"] == "eth_subscribe" and call["params"][0] == "newHeads":
            with self._lock:
                ids = self._subscribers.setdefault(connection, [])
                ids.append(hex(id(connection) + len(ids)))
                return envelope | {"result": ids[-1]}
        return None
