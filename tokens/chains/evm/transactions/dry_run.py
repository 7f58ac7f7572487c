"""Simulation of a transaction before it is signed, and replay after it was reverted, by `eth_call`."""

from typing import Any

from config.http.errors import RetryableError
from tokens.chains.abi.reverts import describe_revert
from tokens.chains.errors import NodeUnavailableError, SenderBalanceTooLowError, WouldRevertError
from tokens.chains.rpc.client import ONE_ROUND, RpcClient
from tokens.chains.rpc.quantities import parse_data, parse_quantity
from tokens.chains.rpc.responses import CallFailure, RejectionKind, accept_executions, is_hex
from tokens.chains.transaction_types import ContractCall, Simulation

# Maximum gas per transaction (EIP-7825). A deployment takes 4 to 6 million; without a limit, an endless call would
# keep the node busy.
MAX_GAS = 2**24


def simulate_call(rpc: RpcClient, call: ContractCall, *, sender: str) -> Simulation:
    """Implement `Chain.simulate`."""
    transaction = _transaction(call, sender=sender, gas=MAX_GAS)

    def parse(results: list[Any]) -> Simulation | WouldRevertError | SenderBalanceTooLowError:
        for result in results:
            if isinstance(result, CallFailure):
                return _read_failure(result)
        output, gas = results
        return Simulation(output=parse_data(output), gas=parse_quantity(gas, below=MAX_GAS + 1))

    # Without a block some nodes estimate on top of pending transactions, a different state than the call's.
    calls = [("eth_call", (transaction, "latest")), ("eth_estimateGas", (transaction, "latest"))]
    outcome = rpc.query(calls, parse=parse)
    if isinstance(outcome, Simulation):
        return outcome
    raise outcome


def explain_revert(rpc: RpcClient, call: ContractCall, *, sender: str, block: int, gas: int) -> str:
    """Implement `Chain.explain_revert`."""
    transaction = _transaction(call, sender=sender, gas=gas)
    # The transaction ran on the state before its block, changed by earlier transactions in the block. The state after
    # the block includes their changes.
    for number in (block - 1, block):
        try:
            replay = ("eth_call", (transaction, hex(number)))
            (answer,) = rpc.query([replay], parse=accept_executions, policy=ONE_ROUND)
        except NodeUnavailableError:
            continue
        if isinstance(answer, CallFailure):
            return _reason(answer)
    return ""


def _transaction(call: ContractCall, *, sender: str, gas: int) -> dict[str, str]:
    return {"from": sender, "to": call.to, "data": call.data, "value": hex(call.value), "gas": hex(gas)}


def _read_failure(failed: CallFailure) -> WouldRevertError | SenderBalanceTooLowError:
    """Return the error for the failed call. Raises RetryableError where the failure proves nothing about the call."""
    if failed.kind is RejectionKind.SENDER:
        return SenderBalanceTooLowError("the sender has less than the value of the call")
    if failed.kind is not RejectionKind.EXECUTION:
        raise RetryableError(f"it refused: {failed.message}")
    return WouldRevertError(_reason(failed), data=failed.data if is_hex(failed.data) else "0x")


def _reason(failed: CallFailure) -> str:
    """Return the decoded revert data, else the node's message."""
    return describe_revert(failed.data) or failed.message
