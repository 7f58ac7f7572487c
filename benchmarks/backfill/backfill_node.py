"""A fast node for the generated chain, in its own process, whose costs are small beside the client's.

    python -m benchmarks.backfill.backfill_node --launches 50000 --blocks 200000

prints its port once it is ready, and ends with its standard input. A URL's path selects its responses:
`/<stamped|plain>/<milliseconds>`, whether logs contain their block's timestamp and how long each HTTP request takes at
least. `GET /` returns the request counts, the seconds until the first one, the responses' cost, and the expected final
rows; `GET /reset` clears the counts.
"""

import argparse
import asyncio
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from benchmarks.backfill.backfill_answers import Answers, TooManyLogsError, UnsupportedFilterError
from benchmarks.backfill.backfill_chain import CHAIN_ID, Chain

HOST = "127.0.0.1"
# As the large providers have it.
_MOST_LOGS = 10_000

_Call = Callable[[list[Any]], bytes]


class Node:
    """A node that answers calls, and counts them."""

    def __init__(self, answers: Answers, *, truth: Mapping[str, object]) -> None:
        self._answers, self._truth = answers, dict(truth)
        self.reset()
        self._methods = {stamped: self._table(answers, stamped=stamped) for stamped in (False, True)}

    def reset(self) -> None:
        """Start counting anew."""
        self.calls: Counter[str] = Counter()
        self.requests = self.sent = 0
        self._cpu, self._began, self._first = time.process_time(), time.monotonic(), 0.0

    def counts_as_json(self) -> bytes:
        """Return the counts since their start, as JSON."""
        counts = {
            "calls": self.calls,
            "requests": self.requests,
            "sent": self.sent,
            "cpu": time.process_time() - self._cpu,
            "first": self._first,
            "head": self._answers.head,
        }
        return orjson.dumps(counts | self._truth)

    def answer(self, body: bytes, *, stamped: bool) -> bytes:
        """Return the response to a request's body: one call or a batch."""
        requested = orjson.loads(body)
        if not self.requests:
            self._first = time.monotonic() - self._began
        self.requests += 1
        if isinstance(requested, dict):
            return self._answer_one(requested, stamped=stamped)
        return b"[" + b",".join([self._answer_one(call, stamped=stamped) for call in requested]) + b"]"

    def _answer_one(self, call: dict[str, Any], *, stamped: bool) -> bytes:
        self.calls[call["method"]] += 1
        method = self._methods[stamped].get(call["method"])
        number = orjson.dumps(call["id"])
        if method is None:
            return _refuse(number, -32601, f"the method {call['method']} does not exist")
        try:
            result = method(call.get("params") or [])
        except TooManyLogsError as error:
            return _refuse(number, -32005, str(error))
        except UnsupportedFilterError as error:
            return _refuse(number, -32000, str(error))
        return b'{"jsonrpc":"2.0","id":' + number + b',"result":' + result + b"}"

    def _table(self, answers: Answers, *, stamped: bool) -> dict[str, _Call]:
        return {
            "eth_chainId": lambda _: b'"%#x"' % CHAIN_ID,
            "eth_blockNumber": lambda _: b'"%#x"' % answers.head,
            "eth_getLogs": lambda given: answers.logs(given[0], stamped=stamped, most=_MOST_LOGS),
            "eth_getBlockByNumber": lambda given: answers.block(given[0]),
            "eth_getBlockReceipts": lambda given: answers.receipts(given[0], stamped=stamped),
        }


def _refuse(number: bytes, code: int, message: str) -> bytes:
    error = orjson.dumps({"code": code, "message": message})
    return b'{"jsonrpc":"2.0","id":' + number + b',"error":' + error + b"}"


class _Connection(asyncio.Protocol):
    """An HTTP/1.1 connection as node clients use it: kept alive, bodies with their length."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._received[:end])
            length = _content_length(head)
            if len(self._received) < end + 4 + length:
                return
            body = bytes(self._received[end + 4 : end + 4 + length])
            del self._received[: end + 4 + length]
            self._answer(head.split(b" ", 2)[1].decode(), body)

    def _answer(self, path: str, body: bytes) -> None:
        if body:
            _, kind, milliseconds = path.split("/")
            answer = self._node.answer(body, stamped=kind == "stamped")
            self._node.sent += len(answer)
            delay = int(milliseconds) / 1000
        else:
            if path == "/reset":
                self._node.reset()
            answer, delay = self._node.counts_as_json(), 0.0
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(answer)
        if delay:
            asyncio.get_running_loop().call_later(delay, self._transport.write, head + answer)
        else:
            self._transport.write(head + answer)


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    return 0


async def serve(node: Node) -> None:
    """Serve until the standard input ends, after printing the port."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(node), HOST, 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    # Ends with the process that started this one, however that ends.
    await loop.run_in_executor(None, sys.stdin.read)


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a generated chain.")
    parser.add_argument("--launches", type=int, required=True)
    parser.add_argument("--blocks", type=int, required=True)
    options = parser.parse_args()
    chain = Chain(options.launches, options.blocks)
    truth = {"digest": chain.digest(), "launches": chain.launches, "changes": chain.changes}
    asyncio.run(serve(Node(Answers(chain), truth=truth)))


if __name__ == "__main__":
    main()
