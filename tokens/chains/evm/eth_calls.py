"""Calls of contract views at a block, several in one request, and simulation of a transaction's logs.

Views are called by `eth_call`; `eth_simulateV1` is used where a node offers it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from config.http.errors import RetryableError
from tokens.chains.abi.codec import AbiFunction
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.headers import block_call, read_header
from tokens.chains.rpc.client import ONE_ROUND, QueryPolicy, RpcClient
from tokens.chains.rpc.responses import Call, accept_executions, accept_results, require_results
from tokens.chains.types import BlockHeader

# Result name -> value; None where the contract reverted, or returned nothing or malformed data.
ViewResult = dict[str, Any] | None

# Gas limit, ample for a view: without one, an arbitrary contract could keep the node busy.
_GAS = hex(5_000_000)


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewCall:
    """A call of a contract's view; `sender` is the apparent caller, the zero address where None."""

    contract: str
    function: AbiFunction
    arguments: tuple[Any, ...] = ()
    sender: str | None = None

    @property
    def transaction(self) -> dict[str, str]:
        """The call as a transaction object of JSON-RPC."""
        transaction = {"to": self.contract, "data": self.function.encode(*self.arguments), "gas": _GAS}
        if self.sender:
            transaction["from"] = self.sender
        return transaction

    def call(self, block: str) -> Call:
        """Return the JSON-RPC call."""
        return "eth_call", (self.transaction, block)


def call_views(rpc: RpcClient, views: Sequence[ViewCall], *, block: int | None = None) -> list[ViewResult]:
    """Return the results in the order of the calls, as of the end of a block, the newest where None.

    Raises NodeUnavailableError, also where nodes reject for any other reason than the contract's own failure.
    """
    at = "latest" if block is None else hex(block)
    return _decode(views, rpc.batch([view.call(at) for view in views], parse=accept_executions))


def call_views_in_block(rpc: RpcClient, views: Sequence[ViewCall], header: BlockHeader) -> list[ViewResult]:
    """Return the results in the order of the calls, as of the end of exactly this block.

    Each request also reads the block, because one URL may serve several nodes on different forks. Each healthy node is
    queried once, and no failure counts. Raises NodeUnavailableError.
    """

    def parse(results: list[Any]) -> list[Any]:
        *answers, block = results
        require_results([block])
        if read_header(block, number=header.number).hash != header.hash:
            raise RetryableError("another block than the requested one")
        return accept_executions(answers)

    results: list[Any] = []
    size = max(1, rpc.batch_size - 1)
    for part in (views[start : start + size] for start in range(0, len(views), size)):
        calls = [*(view.call(hex(header.number)) for view in part), block_call(header.number)]
        results += rpc.query(calls, parse=parse, policy=ONE_ROUND)
    return _decode(views, results)


def call_views_at_blocks(rpc: RpcClient, views_at: Sequence[tuple[ViewCall, int]]) -> list[ViewResult]:
    """Return the results in order, each as of the end of a block that may be long past.

    Where no node keeps that state, as of the newest block. Raises NodeUnavailableError.
    """
    results: dict[int, Any] = {}
    # From the newest block to the oldest: where a block's state is pruned, that of older ones is.
    places = sorted(range(len(views_at)), key=lambda place: -views_at[place][1])
    _call_historical(rpc, views_at, places, results)
    forgotten = [place for place in places if place not in results]
    # Each request also reads the newest block, because a lagging node may lack a recent contract.
    size = max(1, rpc.batch_size - 1)
    for part in (forgotten[start : start + size] for start in range(0, len(forgotten), size)):
        calls = [*(views_at[place][0].call("latest") for place in part), ("eth_blockNumber", ())]
        *answers, head = rpc.batch(calls, parse=accept_executions)
        newest = views_at[part[0]][1]
        if not _is_at(head, newest):
            raise NodeUnavailableError(f"the node is behind block {newest}")
        results |= zip(part, answers, strict=True)
    return _decode([view for view, _ in views_at], [results[place] for place in range(len(views_at))])


def _call_historical(
    rpc: RpcClient, views_at: Sequence[tuple[ViewCall, int]], places: Sequence[int], results: dict[int, Any]
) -> None:
    """Fill in the results at these places, from the newest block on, as far back as nodes keep the state."""
    try:
        calls = [views_at[place][0].call(hex(views_at[place][1])) for place in places]
        answers = rpc.batch(calls, parse=accept_executions, policy=ONE_ROUND)
    except NodeUnavailableError:
        blocks = sorted({views_at[place][1] for place in places})
        if len(blocks) == 1:
            return
        middle = blocks[len(blocks) // 2]
        newer = [place for place in places if views_at[place][1] >= middle]
        _call_historical(rpc, views_at, newer, results)
        if all(place in results for place in newer):
            _call_historical(rpc, views_at, places[len(newer) :], results)
    else:
        results |= zip(places, answers, strict=True)


def _is_at(head: Any, block: int) -> bool:
    try:
        return int(head, 16) >= block
    except (TypeError, ValueError):
        return False


def _decode(views: Sequence[ViewCall], answers: Sequence[Any]) -> list[ViewResult]:
    return [
        view.function.decode_output(answer) if isinstance(answer, str) else None
        for view, answer in zip(views, answers, strict=True)
    ]


def call_view_groups(rpc: RpcClient, *groups: Sequence[ViewCall], block: int | None = None) -> list[list[ViewResult]]:
    """Call all views in one request, and return the results by group. Raises NodeUnavailableError."""
    answers = iter(call_views(rpc, [view for group in groups for view in group], block=block))
    return [[next(answers) for _ in group] for group in groups]


def would_revert(rpc: RpcClient, call: ViewCall, *, block: int) -> bool:
    """Return whether the call's execution fails as of the end of a block; its result does not matter.

    Raises NodeUnavailableError.
    """
    return not isinstance(rpc.batch([call.call(hex(block))], parse=accept_executions)[0], str)


# What a transaction would do on top of a block: `eth_simulateV1`, where a node offers it.
def simulate_logs(rpc: RpcClient, view: ViewCall, *, block: int) -> list[Any] | None:
    """Return the logs of the transaction if it were mined in the block after this one.

    None where no node simulates, or where the transaction would revert. Source: github.com/ethereum/execution-apis,
    `eth_simulateV1`.
    """
    simulation = {"blockStateCalls": [{"calls": [view.transaction]}]}
    try:
        policy = QueryPolicy(rare_method="eth_simulateV1")
        (answer,) = rpc.query([("eth_simulateV1", (simulation, hex(block)))], parse=accept_results, policy=policy)
        (simulated,) = answer
        (outcome,) = simulated["calls"]
        logs = outcome["logs"] if outcome["status"] == "0x1" else None
    except (NodeUnavailableError, KeyError, TypeError, ValueError):
        return None
    return logs if isinstance(logs, list) else None
