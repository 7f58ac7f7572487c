"""Simulation of a wallet's calls, one after another in the next block, by `eth_simulateV1`.

Source: github.com/ethereum/execution-apis, `eth_simulateV1`. Gas costs nothing there, but the sender needs the coins
that the calls send.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains.abi.codec import Log
from tokens.chains.abi.reverts import describe_revert
from tokens.chains.addresses import ZERO_ADDRESS, checksum_address
from tokens.chains.errors import CallWouldRevertError, SenderBalanceTooLowError
from tokens.chains.evm.headers import read_newest_header
from tokens.chains.evm.transactions.dry_run import MAX_GAS
from tokens.chains.evm.unsigned_calls import UnsignedCall
from tokens.chains.rpc.client import QueryPolicy, RpcClient
from tokens.chains.rpc.quantities import (
    MalformedResponseError,
    parse_data,
    parse_hash,
    parse_list,
    parse_log_address,
    parse_object,
    parse_quantity,
)
from tokens.chains.rpc.responses import CallFailure, RejectionKind, is_hex, require_results

_METHOD = "eth_simulateV1"
# Transfer(address,address,uint256) of ERC-20. An ERC-721 transfer has the same topic and one more indexed argument.
_TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
_TRANSFER_TOPICS = 3
# Nodes log the transfers of the native coin under this address.
_COIN = "0x" + "ee" * 20
_FAILED, _SUCCEEDED = "0x0", "0x1"


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulatedCall:
    """A simulated call: the gas that it used, after refunds, its return data as hex, and its logs."""

    gas_used: int
    output: str
    logs: tuple[Log, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SimulatedCalls:
    """Successful calls after a block, in a block at `time` (Unix seconds).

    `changes` has what the sender gained or lost in smallest units, by currency (EIP-55, zero for the native coin); gas
    is left out. It is the sum of the transfers that the contracts logged.
    """

    block_number: int
    time: int
    calls: tuple[SimulatedCall, ...]
    changes: Mapping[str, int]


def simulate_calls(
    rpc: RpcClient, calls: Sequence[UnsignedCall], *, sender: str, beside: SimulatedCalls | None = None
) -> SimulatedCalls:
    """Implement `Chain.simulate_calls`; `beside` is an earlier simulation whose block and time these calls share."""
    if beside is None:
        parent = read_newest_header(rpc)
        # Some nodes take the time of the parent, which may be old on a chain with few blocks: locks would seem to hold.
        number, seconds = parent.number, max(int(time.time()), parent.time + 1)
    else:
        number, seconds = beside.block_number, beside.time
    block = {
        "blockOverrides": {"number": hex(number + 1), "time": hex(seconds)},
        "calls": [
            {"from": sender, "to": call.to, "data": call.data, "value": hex(call.value), "gas": hex(MAX_GAS)}
            for call in calls
        ],
    }

    def parse(results: list[Any]) -> SimulatedCalls | CallWouldRevertError | SenderBalanceTooLowError:
        if isinstance(results[0], CallFailure) and results[0].kind is RejectionKind.SENDER:
            return SenderBalanceTooLowError("the sender has less than the calls send")
        require_results(results)
        (simulated,) = _objects(results[0], of="simulated blocks", count=1)
        entries = _objects(simulated.get("calls"), of="simulated calls", count=len(calls))
        for index, entry in enumerate(entries):
            if entry.get("status") == _FAILED:
                return _read_revert(entry, index=index)
            if entry.get("status") != _SUCCEEDED:
                raise MalformedResponseError("something else in the place of a status")
        simulated_calls = tuple(map(_read_call, entries))
        return SimulatedCalls(
            block_number=number,
            time=seconds,
            calls=simulated_calls,
            changes=_sum_changes([log for call in simulated_calls for log in call.logs], account=sender),
        )

    simulation = {"blockStateCalls": [block], "traceTransfers": True}
    requests = [(_METHOD, (simulation, hex(number)))]
    outcome = rpc.query(requests, parse=parse, policy=QueryPolicy(rare_method=_METHOD))
    if isinstance(outcome, SimulatedCalls):
        return outcome
    raise outcome


def _objects(value: object, *, of: str, count: int | None = None) -> list[dict[str, object]]:
    entries = [parse_object(entry, of=of) for entry in parse_list(value, of=of)]
    if count is not None and len(entries) != count:
        raise MalformedResponseError(f"{len(entries)} {of} in the place of {count}")
    return entries


def _read_call(entry: Mapping[str, object]) -> SimulatedCall:
    gas_used = parse_quantity(entry.get("gasUsed"), below=MAX_GAS + 1)
    logs = tuple(map(_read_log, _objects(entry.get("logs"), of="logs")))
    return SimulatedCall(gas_used=gas_used, output=parse_data(entry.get("returnData")), logs=logs)


def _read_log(log: Mapping[str, object]) -> Log:
    topics = [parse_hash(topic) for topic in parse_list(log.get("topics"), of="topics")]
    return {"address": parse_log_address(log.get("address")), "topics": topics, "data": parse_data(log.get("data"))}


def _read_revert(entry: Mapping[str, object], *, index: int) -> CallWouldRevertError:
    """Return the error for a failed call; its data is in `error`, or in `returnData` at some nodes."""
    error = parse_object(entry.get("error"), of="an error")
    data = next((text for text in (error.get("data"), entry.get("returnData")) if is_hex(text) and text != "0x"), "0x")
    reason = describe_revert(str(data)) or str(error.get("message") or "no reason")
    return CallWouldRevertError(reason, data=str(data), index=index)


def _sum_changes(logs: Sequence[Log], *, account: str) -> dict[str, int]:
    changes: dict[str, int] = {}
    for log in logs:
        topics = log["topics"]
        if len(topics) != _TRANSFER_TOPICS or topics[0] != _TRANSFER:
            continue
        emitter = log["address"]
        currency = ZERO_ADDRESS if emitter.lower() == _COIN else checksum_address(emitter)
        giver, taker = (checksum_address(f"0x{topic[-40:]}") for topic in topics[1:])
        amount = _amount(log["data"])
        changes[currency] = changes.get(currency, 0) + amount * ((taker == account) - (giver == account))
    return {currency: change for currency, change in changes.items() if change}


def _amount(data: str) -> int:
    """Return the amount in a transfer's data; 0 for data that is no amount, which any contract may log."""
    return int(data, 16) if len(data) == 66 else 0
