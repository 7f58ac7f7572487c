"""A simulated chain's JSON-RPC node: its responses to calls, and its faults."""

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from eth_utils.crypto import keccak

from development.standins.loopback import RefusedError
from tests.nodes.log_encoding import log_filter
from tests.simulator.chain import Block, PlacedLog, SimulatedChain, bloom
from tests.simulator.faults import Faults, Limits, too_many
from tests.simulator.shapes import Json, block_json, log_json, receipt_json, transaction_json
from tests.simulator.state_views import call_state

_VIEWS = ("symbol()", "decimals()", "totalSupply()", "imageUrl()", "image()", "metadata()", "context()", "fee()")
# How many blocks the chain grows beyond an orphaned branch before no node serves that branch.
_FORK_LIVES = 20
_FUNCTIONS = {"0x" + keccak(text=name)[:4].hex(): name for name in _VIEWS}


@dataclass
class Node:
    """One URL's node.

    `faults` and `limits` may be changed at any time; `pinned` sets a branch's blocks to stay on. Which
    request goes wrong is drawn from the node's own seed, in order of arrival.
    """

    chain: SimulatedChain
    seed: int = 0
    faults: Faults = field(default_factory=Faults)
    limits: Limits = field(default_factory=Limits)
    pinned: list[Block] | None = None
    url: str = ""
    websocket_url: str = ""
    # Answered calls by method.
    received: dict[str, int] = field(default_factory=dict)
    requests: int = 0

    def __post_init__(self) -> None:
        self.rng, self.lock = random.Random(self.seed), threading.Lock()

    def draw(self, part: float) -> bool:
        """Return whether an event with this probability happens now."""
        with self.lock:
            return part > 0 and self.rng.random() < part

    def pick(self, count: int) -> int:
        """Return a number below `count`."""
        with self.lock:
            return self.rng.randrange(count)

    def view(self) -> "View":
        """Return the chain as the next request sees it."""
        faults, blocks = self.faults, self.pinned or self.chain.blocks
        dropped = self.chain.dropped[-1] if self.chain.dropped else None
        # A node follows an orphaned branch for a short time only.
        if dropped and len(blocks) - len(dropped) < _FORK_LIVES and self.draw(faults.forked):
            blocks = dropped
        behind = faults.behind
        if self.draw(faults.stale):
            behind += 1 + self.pick(faults.stale_by)
        return View(node=self, blocks=blocks, count=max(1, len(blocks) - behind))

    def count(self, method: str) -> None:
        with self.lock:
            self.received[method] = self.received.get(method, 0) + 1


@dataclass(frozen=True)
class View:
    """A node's chain while it answers one request: the first `count` blocks."""

    node: Node
    blocks: list[Block]
    count: int

    def answer(self, method: str, params: Sequence[Any]) -> Any:
        """Return a call's result. Raises RefusedError."""
        self.node.count(method)
        if method in self.node.faults.lacking or method not in _METHODS:
            raise RefusedError(-32601, f"the method {method} does not exist/is not available")
        return _METHODS[method](self, *params)

    @property
    def head(self) -> Block:
        return self.blocks[self.count - 1]

    def block(self, number: str) -> Block | None:
        """Return a block by number or tag; None where this node has none."""
        if number in ("latest", "pending", "safe", "finalized"):
            return self.head
        place = 0 if number == "earliest" else int(number, 16)
        return self.blocks[place] if place < self.count else None

    def block_by_hash(self, block_hash: str) -> Block | None:
        """Return a block by hash; None where it is not on this node's branch, or beyond its head."""
        known = self.node.chain.by_hash.get(block_hash)
        candidates = self.node.pinned or ([known] if known else [])
        return next((block for block in candidates if block.hash == block_hash and self.has(block)), None)

    def has(self, block: Block) -> bool:
        return block.number < self.count and self.blocks[block.number] is block

    def place(self, tx_hash: str) -> tuple[Block, int] | None:
        """Return the block in which a transaction is mined, and its index there."""
        for block in self.node.pinned or self.node.chain.places.get(tx_hash, ()):
            hashes = [entry.hash for entry in block.transactions]
            if tx_hash in hashes and self.has(block):
                return block, hashes.index(tx_hash)
        return None


def _chain_id(view: View) -> str:
    return hex(view.node.faults.chain_id or view.node.chain.chain_id)


def _block_number(view: View) -> str:
    return hex(view.head.number)


def _shifted(view: View, block: Block) -> Block:
    """Return the block with the time that the node reports."""
    shift = view.node.faults.time_shift
    return replace(block, time=block.time + shift) if shift else block


def _block_by_number(view: View, number: str, full: bool = False) -> Json | None:
    block = view.block(number)
    return block and block_json(_shifted(view, block), full=full)


def _block_by_hash(view: View, block_hash: str, full: bool = False) -> Json | None:
    block = view.block_by_hash(block_hash)
    return block and block_json(_shifted(view, block), full=full)


def _transaction(view: View, tx_hash: str) -> Json | None:
    place = view.place(tx_hash)
    return place and transaction_json(*place)


def _receipt(view: View, tx_hash: str) -> Json | None:
    place = view.place(tx_hash)
    return place and not _lacks_receipts(view, place[0]) and _receipt_at(view, *place) or None


def _lacks_receipts(view: View, block: Block) -> bool:
    faults = view.node.faults
    return faults.prunes_receipts and block.number <= faults.pruned_to


def _receipt_at(view: View, block: Block, place: int) -> Json:
    own = bloom(block.transactions[place].logs)
    return receipt_json(block, place, bloom=own, with_times=view.node.limits.times)


def _block_receipts(view: View, block: Any) -> list[Json] | None:
    if isinstance(block, dict):
        block = block.get("blockHash") or block["blockNumber"]
    found = view.block_by_hash(block) if len(block) == 66 else view.block(block)
    if found is None or _lacks_receipts(view, found):
        return None
    return [_receipt_at(view, found, place) for place in range(len(found.transactions))]


def _call(view: View, transaction: Json, block: Any = "latest", *_overrides: Any) -> str:
    at = block if isinstance(block, str) else block.get("blockHash") or block["blockNumber"]
    found = view.block_by_hash(at) if len(at) == 66 else view.block(at)
    if found is None:
        raise RefusedError(-32000, "header not found")
    data = transaction.get("data") or transaction.get("input") or ""
    answer = call_state(tuple(view.blocks[: found.number + 1]), to=transaction["to"], data=data)
    if answer is None:
        answer = view.node.chain.views.get((transaction["to"].lower(), _FUNCTIONS.get(data[:10], "")))
    if answer is None:
        raise RefusedError(3, "execution reverted", data="0x")
    return "0x" + answer.hex()


def _logs(view: View, query: Json) -> list[Json]:
    node, blocks = view.node, _blocks_of(view, query)
    matches = log_filter(query)
    placed_logs = [placed for block in blocks if block.has_logs for placed in block.logs]
    found = [placed for placed in placed_logs if matches(placed[3].address, placed[3].topics)]
    limit = node.limits.logs
    if limit is not None and len(found) > limit and len(blocks) > 1:
        last = max(found[limit - 1][0].number - 1, blocks[0].number)
        raise too_many("logs", limit=limit, first=blocks[0].number, last=last)
    return [
        _shifted_log(node, log_json(*placed, with_times=node.limits.times)) for placed in _corrupt_logs(node, found)
    ]


def _shifted_log(node: Node, log: Json) -> Json:
    """Return the log with the time and the indexes that the node reports."""
    faults = node.faults
    shifts = {
        "blockTimestamp": faults.time_shift + faults.log_time_shift,
        "logIndex": faults.log_index_shift,
        "transactionIndex": faults.tx_index_shift,
    }
    return log | {name: hex(int(log[name], 16) + shift) for name, shift in shifts.items() if shift and name in log}


def _blocks_of(view: View, query: Json) -> Sequence[Block]:
    if "blockHash" in query:
        block = view.block_by_hash(query["blockHash"])
        if block is None:
            raise RefusedError(-32000, "unknown block")
        return [block]
    first, last = (_number(view, query.get(name, "latest")) for name in ("fromBlock", "toBlock"))
    limits = view.node.limits
    if first > last:
        raise RefusedError(-32000, "invalid block range params")
    if limits.blocks is not None and last - first + 1 > limits.blocks:
        raise too_many("blocks", limit=limits.blocks, first=first, last=first + limits.blocks - 1)
    if last >= view.count and not limits.beyond_head:
        raise RefusedError(-32602, "block range extends beyond current head block")
    return view.blocks[first : min(last + 1, view.count)]


def _number(view: View, name: str) -> int:
    return int(name, 16) if name.startswith("0x") else (0 if name == "earliest" else view.head.number)


def _corrupt_logs(node: Node, found: list[PlacedLog]) -> list[PlacedLog]:
    """Return the logs with some lost, duplicated and shuffled."""
    faults = node.faults
    found = [placed for placed in found if placed[0].number > faults.pruned_to]
    if faults.omitted_for_good or faults.forgotten:
        found = [placed for placed in found if not _lost(node, placed)]
    if faults.omitted:
        found = [placed for placed in found if not node.draw(faults.omitted)]
    if faults.doubled:
        found = [placed for placed in found for _ in range(2 if node.draw(faults.doubled) else 1)]
    if node.draw(faults.reordered):
        with node.lock:
            found = node.rng.sample(found, len(found))
    return found


def _lost(node: Node, placed: PlacedLog) -> bool:
    """Return whether this node's index permanently lacks the log, or its whole transaction."""
    block, transaction, _, _, index = placed
    log_lost = _drawn(f"{node.seed} {block.hash} {index}") < node.faults.omitted_for_good
    return log_lost or _drawn(f"{node.seed} {transaction.hash}") < node.faults.forgotten


def _drawn(text: str) -> float:
    """Return a number from 0 to 1 that is always the same for the same text."""
    return int.from_bytes(keccak(text=text)[:4], "big") / 2**32


_METHODS: dict[str, Callable[..., Any]] = {
    "eth_chainId": _chain_id,
    "eth_blockNumber": _block_number,
    "eth_getBlockByNumber": _block_by_number,
    "eth_getBlockByHash": _block_by_hash,
    "eth_getTransactionByHash": _transaction,
    "eth_getTransactionReceipt": _receipt,
    "eth_getBlockReceipts": _block_receipts,
    "eth_getLogs": _logs,
    "eth_call": _call,
}
