"""JSON-RPC node on loopback that serves the recorded chain, with faults set by tests."""

import copy
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from development.standins.loopback import RefusedError, Reply, answer_calls
from tests.nodes.json_server import serve_json
from tests.nodes.log_encoding import log_filter
from tests.nodes.recordings import Json, Mined, recorded_chain
from tokens.chains.evm.logs.log_validation import parse_receipt_logs
from tokens.chains.evm.logs.receipt_roots import NO_RECEIPTS_ROOT
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.responses import accept_results

Behave = Callable[[Any], Reply | None]

# Calldata for admin().
_ADMIN = "0xf851a440"
# The selector for collectRewards(address).
_COLLECT = "0x5763dbd0"


class Node:
    """The recorded chain behind a URL.

    Tests change its data with `change` and `answers`, or the HTTP response itself with `behave`: a function of the
    parsed body; None means the regular response.
    """

    def __init__(self) -> None:
        chain = recorded_chain()
        self.url = ""
        # Every request's parsed body, in order of arrival.
        self.received: list[Any] = []
        # Set when the node is closed; a behaviour that never responds waits for it.
        self.closed = threading.Event()
        self.behave: Behave | None = None
        self.answers: dict[str, Callable[..., Any]] = {
            "eth_chainId": lambda: hex(chain["chainId"]),
            "eth_blockNumber": lambda: hex(len(chain["blocks"]) - 1),
            "eth_getTransactionByHash": lambda tx_hash: self.transactions.get(tx_hash),
            "eth_getTransactionReceipt": lambda tx_hash: self.receipts.get(tx_hash),
            "eth_getBlockByNumber": lambda number, full: self.block(self._number(number), full=full),
            "eth_getBlockByHash": lambda block_hash, full: self.block(self.numbers.get(block_hash), full=full),
            "eth_getBlockReceipts": lambda number: self._block_receipts(self._number(number)),
            "eth_getLogs": self.logs,
            "eth_call": self.recorded_view,
        }
        self.transactions = {entry["hash"]: entry for block in chain["blocks"] for entry in block["transactions"]}
        self.receipts = dict(chain["receipts"])
        self.blocks = dict(enumerate(chain["blocks"]))
        self.views = {(call["to"].lower(), call["data"]): call for call in chain["calls"]}

    @property
    def calls(self) -> list[Json]:
        """Return every JSON-RPC call that arrived, including those in batches."""
        return [call for body in self.received for call in (body if isinstance(body, list) else [body])]

    def call_count(self, method: str) -> int:
        """Return how many calls a method received."""
        return sum(call["method"] == method for call in self.calls)

    def hold(self, mined: Mined) -> str:
        """Serve this transaction with its receipt and block, instead of a recorded one; return its hash."""
        self.transactions[mined.hash] = mined.transaction
        self.receipts[mined.hash] = mined.receipt
        number = int(mined.block["number"], 16)
        self.blocks[number] = mined.block | {"transactions": [{"hash": entry} for entry in mined.block["transactions"]]}
        return mined.hash

    def refuse_state(self) -> None:
        """Refuse calls for a token's admin from now on, and so the current state, as a node without it does."""

        def view(call: Json, block: str) -> str:
            if call["data"] == _ADMIN:
                raise RefusedError(-32000, "missing trie node")
            return self.recorded_view(call, block)

        self.answers["eth_call"] = view

    def answer(self, body: Any) -> Reply:
        """Return the HTTP response to a parsed body."""
        self.received.append(body)
        changed = self.behave(body) if self.behave else None
        return changed or Reply(json.dumps(self.reply(body)).encode())

    def reply(self, body: Any) -> Any:
        """Return the regular JSON-RPC response to a call or a batch, as Python."""
        return answer_calls(body, self._result)

    def _result(self, call: Json) -> Any:
        if call["method"] not in self.answers:
            raise RefusedError(-32601, f"the method {call['method']} does not exist")
        return self.answers[call["method"]](*call["params"])

    @property
    def numbers(self) -> dict[str, int]:
        """Return block hash -> number."""
        return {block["hash"]: number for number, block in self.blocks.items()}

    def block(self, number: int | None, *, full: bool = False) -> Json | None:
        """Return a block with its transactions in full or their hashes, and with its logs' bloom filter.

        An empty one has an empty trie's root: the recorded development chain has other roots there.
        """
        block = self.blocks.get(-1 if number is None else number)
        if block is None:
            return None
        hashes = [entry["hash"] for entry in block["transactions"]]
        _, bloom = parse_receipt_logs([{"logs": self._logs_of(block)}])
        transactions = [self.transactions[tx_hash] for tx_hash in hashes] if full else hashes
        root = {} if hashes else {"receiptsRoot": NO_RECEIPTS_ROOT}
        return block | {"transactions": transactions, "logsBloom": f"0x{bloom:0512x}"} | root

    def logs(self, query: Json) -> list[Json]:
        """Return a block's logs by its hash, or a range's, by addresses and topics."""
        matches = log_filter(query)
        if "blockHash" in query:
            if query["blockHash"] not in self.numbers:
                raise RefusedError(-32000, "unknown block")
            numbers = [self.numbers[query["blockHash"]]]
        else:
            numbers = list(range(int(query["fromBlock"], 16), int(query["toBlock"], 16) + 1))
        blocks = [self.blocks[number] for number in numbers if number in self.blocks]
        logs = [log for block in blocks for log in self._logs_of(block)]
        return [dict(log) for log in logs if matches(log["address"], log["topics"])]

    def _number(self, text: str) -> int:
        return int(self.answers["eth_blockNumber"]() if text == "latest" else text, 16)

    def _block_receipts(self, number: int) -> list[Json] | None:
        block = self.blocks.get(number)
        return None if block is None else [self.receipts[entry["hash"]] for entry in block["transactions"]]

    def _logs_of(self, block: Json) -> list[Json]:
        return [log for entry in block["transactions"] for log in self.receipts[entry["hash"]]["logs"]]

    def recorded_view(self, call: Json, _block: str) -> str:
        """Return a view's recorded result; one that the recording lacks reverts."""
        recorded = self.views.get((call["to"].lower(), call["data"]))
        if recorded is None and call["data"].startswith(_COLLECT):
            # Each recorded locker collects; the function returns nothing.
            return "0x"
        if recorded is None:
            raise RefusedError(3, "execution reverted", data="0x")
        if "error" in recorded:
            raise RefusedError(**copy.copy(recorded["error"]))
        return str(recorded["result"])


@contextmanager
def serve_recorded_chain() -> Iterator[Node]:
    """Run a node while the block runs. Its URL has a path like a provider's, with a key in it."""
    node = Node()
    with serve_json(node.answer) as url:
        node.url = f"{url}/v2/{SECRET}"
        try:
            yield node
        finally:
            node.closed.set()


def query_head(rpc_client: RpcClient) -> Any:
    """Return the newest block's number as the node sent it. Raises NodeUnavailableError."""
    return rpc_client.query([("eth_blockNumber", ())], parse=accept_results)[0]


# The part in every node's URL where providers put a key.
SECRET = "s3cr3t-provider-key"


@pytest.fixture
def node() -> Iterator[Node]:
    """Serve the recorded chain."""
    with serve_recorded_chain() as running:
        yield running


@pytest.fixture
def installed_node(node: Node, settings: Any, forget_chains: Callable[[], None]) -> Node:
    """Serve the recorded chain, with only Base installed on it."""
    settings.RPC_URLS = {8453: (node.url,)}
    settings.RPC_ATTEMPTS = 1
    forget_chains()
    return node


@pytest.fixture
def second_node() -> Iterator[Node]:
    """Serve the recorded chain from another node."""
    with serve_recorded_chain() as running:
        yield running
