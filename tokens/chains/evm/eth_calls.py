"""Batched contract view calls at a block, and simulation of a transaction's logs.

Views are called by `eth_call`; the simulation uses `eth_simulateV1`, which not all nodes offer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from config.http.errors import RetryableError
from tokens.chains.abi.codec import AbiFunction
from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.headers import block_call, read_header
from tokens.chains.rpc.client import EVERY_NODE, ONE_ROUND, QueryPolicy, RpcClient
from tokens.chains.rpc.quantities import (
    MalformedResponseError,
    parse_block_number,
    parse_data,
    parse_list,
    parse_object,
)
from tokens.chains.rpc.responses import Call, NodeBehindError, accept_executions, require_results
from tokens.chains.types import BlockHeader

# Result name -> value; None where the contract reverted or returned nothing, and where an untrusted one returned
# malformed data.
ViewResult = dict[str, Any] | None
Found = TypeVar("Found")

# Gas limit, ample for a view: without one, an arbitrary contract could keep the node busy.
_GAS = hex(5_000_000)


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewCall:
    """A contract view call; `sender` is the apparent caller, the zero address where None."""

    contract: str
    function: AbiFunction
    arguments: tuple[Any, ...] = ()
    sender: str | None = None
    # Whether the contract's code is known, as for registry contracts: then malformed data is the node's fault. Any
    # other contract may return anything, and no node must fail because of it.
    trusted: bool = False
    # Exclusive limit for numbers that a trusted contract returns, such as a time.
    below: int | None = None

    @property
    def transaction(self) -> dict[str, str]:
        """The call as a JSON-RPC transaction object."""
        transaction = {"to": self.contract, "data": self.function.encode_input(*self.arguments), "gas": _GAS}
        if self.sender:
            transaction["from"] = self.sender
        return transaction

    def call(self, block: str) -> Call:
        """Return the JSON-RPC call."""
        return "eth_call", (self.transaction, block)


def call_views(rpc: RpcClient, views: Sequence[ViewCall], *, block: int | None = None) -> list[ViewResult]:
    """Return the results in call order, with the state after a block; None is the newest block.

    Raises NodeUnavailableError, also where nodes reject for any other reason than the contract's own failure, or return
    malformed data for trusted contracts.
    """
    block_tag = "latest" if block is None else hex(block)
    return _call(rpc, [(view, block_tag) for view in views])


def call_views_in_block(rpc: RpcClient, views: Sequence[ViewCall], header: BlockHeader) -> list[ViewResult]:
    """Return the results in call order, with the state after exactly this block.

    Each request also reads the block, because one URL may serve several nodes on different forks. Each healthy node is
    queried once, and no failure counts. Raises NodeUnavailableError.
    """

    def check(block: object) -> None:
        if read_header(block, number=header.number).hash != header.hash:
            raise RetryableError("another block than the requested one")

    calls = [(view, hex(header.number)) for view in views]
    return _call(rpc, calls, policy=ONE_ROUND, witness=block_call(header.number), check=check)


def call_views_at_blocks(rpc: RpcClient, views_at: Sequence[tuple[ViewCall, int]]) -> list[ViewResult]:
    """Return the results in call order, each with the state after its block, which may be old.

    Where no node keeps that state, use the newest block's state. Raises NodeUnavailableError.
    """
    results: dict[int, ViewResult] = {}
    # Sorted from the newest block to the oldest: where a block's state is pruned, older states are pruned, too.
    indexes = sorted(range(len(views_at)), key=lambda index: -views_at[index][1])
    _call_historical(rpc, views_at, indexes, results)
    pruned = [index for index in indexes if index not in results]
    if pruned:
        newest = views_at[pruned[0]][1]

        def check(head: object) -> None:
            if parse_block_number(head) < newest:
                raise NodeBehindError(f"the node is behind block {newest}")

        # Each request also reads the newest block, because a lagging node may lack a recent contract.
        calls = [(views_at[index][0], "latest") for index in pruned]
        answers = _call(rpc, calls, witness=("eth_blockNumber", ()), check=check)
        results |= zip(pruned, answers, strict=True)
    return [results[index] for index in range(len(views_at))]


def _call_historical(
    rpc: RpcClient, views_at: Sequence[tuple[ViewCall, int]], indexes: Sequence[int], results: dict[int, ViewResult]
) -> None:
    """Fill in the results at these indexes, from the newest block on, as far back as nodes keep the state."""
    try:
        calls = [(views_at[index][0], hex(views_at[index][1])) for index in indexes]
        answers = _call(rpc, calls, policy=ONE_ROUND)
    except NodeUnavailableError:
        blocks = sorted({views_at[index][1] for index in indexes})
        if len(blocks) == 1:
            return
        middle = blocks[len(blocks) // 2]
        newer = [index for index in indexes if views_at[index][1] >= middle]
        _call_historical(rpc, views_at, newer, results)
        if all(index in results for index in newer):
            _call_historical(rpc, views_at, indexes[len(newer) :], results)
    else:
        results |= zip(indexes, answers, strict=True)


def _call(
    rpc: RpcClient,
    views_at: Sequence[tuple[ViewCall, str]],
    *,
    policy: QueryPolicy = EVERY_NODE,
    witness: Call | None = None,
    check: Callable[[object], None] = lambda _result: None,
) -> list[ViewResult]:
    """Return the call results, each at its block. `check` validates the witness call's result in each request.

    Raises NodeUnavailableError.
    """
    results: list[ViewResult] = []
    size = max(1, rpc.batch_size - (witness is not None))
    for batch in (views_at[start : start + size] for start in range(0, len(views_at), size)):

        def parse(answers: list[Any], batch: Sequence[tuple[ViewCall, str]] = batch) -> list[ViewResult]:
            if witness is not None:
                require_results(answers[-1:])
                check(answers.pop())
            accept_executions(answers)
            return [_decode(view, answer) for (view, _), answer in zip(batch, answers, strict=True)]

        calls = [view.call(block_tag) for view, block_tag in batch]
        results += rpc.query([*calls, *([witness] if witness else [])], parse=parse, policy=policy)
    return results


def _decode(view: ViewCall, answer: Any) -> ViewResult:
    """Decode a call's result. Raises MalformedResponseError where the trusted contract can't have returned it."""
    values = view.function.decode_output(answer) if isinstance(answer, str) else None
    # An address without code returns no bytes.
    if view.trusted and isinstance(answer, str) and answer != "0x":
        is_beyond = view.below is not None and any(value >= view.below for value in (values or {}).values())
        if values is None or is_beyond:
            raise MalformedResponseError(f"a result that {view.function.signature} never returns")
    return values


def call_view_groups(rpc: RpcClient, *groups: Sequence[ViewCall], block: int | None = None) -> list[list[ViewResult]]:
    """Call all views in one request, and return the results by group. Raises NodeUnavailableError."""
    answers = iter(call_views(rpc, [view for group in groups for view in group], block=block))
    return [[next(answers) for _ in group] for group in groups]


def lacks_code(rpc: RpcClient, address: str, *, block: int, witness: str) -> bool:
    """Return whether an address has no code after a block; False where no node proves it.

    A node that lacks the block's state may report no code for any address. So its response counts only if it has code
    for `witness`, a contract that existed by then.
    """

    def parse(results: list[Any]) -> bool:
        require_results(results)
        code, witness_code = map(parse_data, results)
        if witness_code == "0x":
            raise NodeBehindError(f"the node lacks the state of block {block}")
        return code == "0x"

    calls = [("eth_getCode", (each, hex(block))) for each in (address, witness)]
    try:
        return rpc.query(calls, parse=parse, policy=ONE_ROUND)
    except NodeUnavailableError:
        return False


def would_revert(rpc: RpcClient, call: ViewCall, *, block: int) -> bool:
    """Return whether the call fails with the state after a block; its result does not matter.

    Raises NodeUnavailableError.
    """
    return not isinstance(rpc.batch([call.call(hex(block))], parse=accept_executions)[0], str)


def simulate_logs(
    rpc: RpcClient, view: ViewCall, *, block: int, parse: Callable[[list[dict[str, object]]], Found]
) -> Found | None:
    """Simulate the transaction in the block after this one, and return its logs, parsed by `parse`.

    None where no node simulates, or where the transaction would revert. A RetryableError from `parse` counts as the
    node's failure. Source: github.com/ethereum/execution-apis, `eth_simulateV1`.
    """

    def parse_simulation(results: list[Any]) -> Found | None:
        require_results(results)
        simulated_block = _only_object(results[0], of="a simulated block")
        simulated = _only_object(simulated_block.get("calls"), of="a simulated call")
        if simulated.get("status") == "0x0":
            return None
        if simulated.get("status") != "0x1":
            raise MalformedResponseError("something else in the place of a status")
        return parse([parse_object(log, of="a log") for log in parse_list(simulated.get("logs"), of="logs")])

    simulation = {"blockStateCalls": [{"calls": [view.transaction]}]}
    try:
        policy = QueryPolicy(rare_method="eth_simulateV1")
        return rpc.query([("eth_simulateV1", (simulation, hex(block)))], parse=parse_simulation, policy=policy)
    except NodeUnavailableError:
        return None


def _only_object(value: object, *, of: str) -> dict[str, object]:
    entries = parse_list(value, of=of)
    if len(entries) != 1:
        raise MalformedResponseError(f"{len(entries)} in the place of {of}")
    return parse_object(entries[0], of=of)
