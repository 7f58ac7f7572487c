"""Client that records the calls of contracts' views: a trial shows them beside the decoder's values."""

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

Found = TypeVar("Found")


class ViewAnswer(NamedTuple):
    """The response to a view's call: the value in it, None where there is none, and then the problem in words."""

    value: Any
    problem: str
    # Hex as of JSON-RPC, or `latest` where no node has the launch's block.
    block: str


@dataclass
class RecordingClient(RpcClient):
    """Nodes of a chain, with the results of all calls that they responded to."""

    recorded: list[tuple[Call, Any]] = field(default_factory=list)

    def query(self, calls: Sequence[Call], *, parse: Parse[Found], policy: QueryPolicy = EVERY_NODE) -> Found:
        """Query as `RpcClient.query`, and record the accepted results."""

        def record(results: list[Any]) -> Found:
            accepted = list(results)
            found = parse(results)
            self.recorded += zip(calls, accepted, strict=True)
            return found

        return super().query(calls, parse=record, policy=policy)

    def answer(self, missing: MissingValue) -> ViewAnswer | None:
        """Return the last response to a launch's missing value; None where it was not called."""
        transaction = _view(missing).transaction
        found = [(call[1][1], result) for call, result in self.recorded if _transaction_of(call) == transaction]
        if not found:
            return None
        block, result = found[-1]
        return ViewAnswer(*_read(missing, result), block=block)


def recording_client(rpc: RpcClient) -> RecordingClient:
    """Return a client of the same nodes that records."""
    return RecordingClient(**{each.name: getattr(rpc, each.name) for each in fields(rpc) if each.init})


def call_text(missing: MissingValue, block: str) -> str:
    """Return a view's call in words."""
    arguments = f" with {', '.join(map(str, missing.arguments))}" if missing.arguments else ""
    at = "the newest block" if block == "latest" else f"block {int(block, 16)}"
    return f"{missing.function.signature}{arguments} of {missing.contract} at {at}"


def had_code(rpc: RpcClient, address: str, block: int | None) -> bool | None:
    """Return whether a contract existed after a block, or after the newest one; None where no node has that state."""

    def parse(results: list[Any]) -> bool:
        require_results(results)
        return parse_data(results[0]) != "0x"

    try:
        at = "latest" if block is None else hex(max(block, 0))
        return rpc.query([("eth_getCode", (address, at))], parse=parse, policy=ONE_ROUND)
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
