"""Trying a transaction before it is signed, and once more after it was reverted, by `eth_call`."""

from typing import Any

from config.http.json_client import Retryable
from tokens.chains.abi.reverts import read_revert
from tokens.chains.launching.launch_config import ContractCall
from tokens.chains.rpc.client import CallFailed, RpcClient
from tokens.chains.rpc.quantities import read_data, read_number
from tokens.chains.rpc.responses import Refusal, is_hex
from tokens.chains.transaction_types import Simulation
from tokens.chains.types import NodeUnavailable, SenderTooPoor, WouldRevert

# What one transaction may use at most (EIP-7825). A deployment takes 4 to 6 million; without a limit, a call that
# never ends would keep the node busy.
MAX_GAS = 2**24


def simulate(rpc: RpcClient, call: ContractCall, *, sender: str) -> Simulation:
    """As `Chain.simulate`."""
    transaction = _transaction(call, sender=sender, gas=MAX_GAS)

    def read(results: list[Any]) -> Simulation | WouldRevert | SenderTooPoor:
        for result in results:
            if isinstance(result, CallFailed):
                return _read_failure(result)
        output, gas = results
        return Simulation(output=read_data(output), gas=read_number(gas, below=MAX_GAS + 1))

    # Without a block some nodes estimate on top of what waits, which is another state than that of the call.
    calls = [("eth_call", (transaction, "latest")), ("eth_estimateGas", (transaction, "latest"))]
    found = rpc.ask(calls, read=read)
    if isinstance(found, Simulation):
        return found
    raise found


def explain(rpc: RpcClient, call: ContractCall, *, sender: str, block: int, gas: int) -> str:
    """As `Chain.explain`."""
    transaction = _transaction(call, sender=sender, gas=gas)
    # On the block before it is what the transaction met, but for those of its own block that came earlier; on its own
    # block, these too.
    for number in (block - 1, block):
        try:
            (answer,) = rpc.execute_where_kept([("eth_call", (transaction, hex(number)))])
        except NodeUnavailable:
            continue
        if isinstance(answer, CallFailed):
            return _reason(answer)
    return ""


def _transaction(call: ContractCall, *, sender: str, gas: int) -> dict[str, str]:
    return {"from": sender, "to": call.to, "data": call.data, "value": hex(call.value), "gas": hex(gas)}


def _read_failure(failed: CallFailed) -> WouldRevert | SenderTooPoor:
    """Raises Retryable where nothing follows about the call."""
    if failed.kind is Refusal.SENDER:
        return SenderTooPoor("the sender has less than the value of the call")
    if failed.kind is not Refusal.EXECUTION:
        raise Retryable(f"it refused: {failed.message}")
    return WouldRevert(_reason(failed), data=failed.data if is_hex(failed.data) else "0x")


def _reason(failed: CallFailed) -> str:
    """What the contract returned, else the node's words."""
    return read_revert(failed.data) or failed.message
