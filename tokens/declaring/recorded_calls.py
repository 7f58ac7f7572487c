"""Node client that records view calls: a trial shows them beside the decoder's values."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeVar

from tokens.chains.errors import NodeUnavailableError
from tokens.chains.evm.eth_calls import ViewCall
from tokens.chains.evm.generations.launch_completion import view_value
from tokens.chains.rpc.client import EVERY_NODE, ONE_ROUND, Parse, QueryPolicy, RpcClient
from tokens.chains.rpc.quantities import parse_data
from tokens.chains.rpc.responses import Call, CallFailure, require_results
from tokens.chains.types import MissingValue

Parsed = TypeVar("Parsed")


class ViewAnswer(NamedTuple):
    """The response to a view call: its value, or None and the problem in words."""

    value: Any
    problem: str
    # Hex as in JSON-RPC, or `latest` if no node has the launch's block.
    block: str


@dataclass
class RecordingClient(RpcClient):
    """A chain's nodes, with the results of all calls that they responded to."""

    recorded: list[tuple[Call, Any]] = field(default_factory=list)

    def query(self, calls: Sequence[Call], *, parse: Parse[Parsed], policy: QueryPolicy = EVERY_NODE) -> Parsed:
        """Query as `RpcClient.query`, and record the accepted results."""

        def record(results: list[Any]) -> Parsed:
            accepted = list(results)
            parsed = parse(results)
            self.recorded += zip(calls, accepted, strict=True)
            return parsed

        return super().query(calls, parse=record, policy=policy)

    def answer(self, missing: MissingValue) -> ViewAnswer | None:
        """Return the last response to the view with a launch's missing value; None if it was not called."""
        transaction = _view(missing).transaction
        responses = [(call[1][1], result) for call, result in self.recorded if _transaction_of(call) == transaction]
        if not responses:
            return None
        block, result = responses[-1]
        return ViewAnswer(*_read(missing, result), block=block)


def recording_client(rpc: RpcClient) -> RecordingClient:
    """Return a recording client with the same nodes."""
    return RecordingClient(**{each.name: getattr(rpc, each.name) for each in fields(rpc) if each.init})


def call_text(missing: MissingValue, block: str) -> str:
    """Return a view's call in words."""
    arguments = f" with {', '.join(map(str, missing.arguments))}" if missing.arguments else ""
    block_text = "the newest block" if block == "latest" else f"block {int(block, 16)}"
    return f"{missing.function.signature}{arguments} of {missing.contract} at {block_text}"


def had_code(rpc: RpcClient, address: str, block: int | None) -> bool | None:
    """Return whether a contract existed after a block, or after the newest one; None where no node has that state."""

    def parse(results: list[Any]) -> bool:
        require_results(results)
        return parse_data(results[0]) != "0x"

    try:
        tag = "latest" if block is None else hex(max(block, 0))
        return rpc.query([("eth_getCode", (address, tag))], parse=parse, policy=ONE_ROUND)
    except NodeUnavailableError:
        return None


def _view(missing: MissingValue) -> ViewCall:
    return ViewCall(contract=missing.contract, function=missing.function, arguments=missing.arguments)


def _transaction_of(call: Call) -> object:
    method, parameters = call
    return parameters[0] if method == "eth_call" else None


def _read(missing: MissingValue, result: Any) -> tuple[Any, str]:
    if isinstance(result, CallFailure):
        return None, f"it reverts: {result.message}"
    if result == "0x":
        return None, "it returns nothing: the contract has no such function, or the address no code"
    value = view_value(missing, missing.function.decode_output(result))
    if value is not None:
        return value, ""
    types = ", ".join(missing.function.outputs.types)
    words = len(result[2:]) // 64
    return None, f"it returns another type than ({types}): {words} words, {_cut(result)}"


def _cut(text: str) -> str:
    return text if len(text) <= 140 else f"{text[:140]}..."
