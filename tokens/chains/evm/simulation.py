"""What a transaction would do on top of a block: `eth_simulateV1`, where a node offers it."""

from typing import Any

from tokens.chains.evm.eth_calls import Question
from tokens.chains.rpc.client import RpcClient
from tokens.chains.types import NodeUnavailable


def simulate_logs(rpc: RpcClient, question: Question, *, block: int) -> list[Any] | None:
    """The logs of the transaction in the block after this one, as the node tells them.

    None where no node simulates, or where the transaction would be reverted. Source:
    github.com/ethereum/execution-apis, `eth_simulateV1`.
    """
    simulation = {"blockStateCalls": [{"calls": [question.transaction]}]}
    try:
        answer = rpc.call_where_offered("eth_simulateV1", simulation, hex(block))
        (simulated,) = answer
        (outcome,) = simulated["calls"]
        logs = outcome["logs"] if outcome["status"] == "0x1" else None
    except (NodeUnavailable, KeyError, TypeError, ValueError):
        return None
    return logs if isinstance(logs, list) else None
