"""Broadcast of signed transactions to every node of a chain, with one result from all responses."""

from collections.abc import Iterable, Sequence
from typing import Any

from sha3 import keccak_256

from tokens.chains.evm.transactions.node_rejections import classify_rejection
from tokens.chains.rpc.client import RpcClient
from tokens.chains.rpc.responses import CallFailure
from tokens.chains.transaction_types import BroadcastResult, BroadcastStatus

_BEST_FIRST = list(BroadcastStatus)
_NO_RESPONSE = BroadcastResult(status=BroadcastStatus.UNKNOWN, message="no node responded")


def broadcast_transactions(rpc: RpcClient, raws: Sequence[bytes]) -> list[BroadcastResult]:
    """Implement `Chain.broadcast`."""
    sent: list[BroadcastResult] = []
    for start in range(0, len(raws), rpc.batch_size):
        sent += _broadcast_batch(rpc, raws[start : start + rpc.batch_size])
    return sent


def _broadcast_batch(rpc: RpcClient, raws: Sequence[bytes]) -> list[BroadcastResult]:
    answers = rpc.call_all([("eth_sendRawTransaction", ("0x" + raw.hex(),)) for raw in raws], broadcast=True)
    responding = [results for results in answers if results is not None]
    return [_best(_judge(raw, results[index]) for results in responding) for index, raw in enumerate(raws)]


def _best(results: Iterable[BroadcastResult]) -> BroadcastResult:
    return min(results, key=lambda sent: _BEST_FIRST.index(sent.status), default=_NO_RESPONSE)


def _judge(raw: bytes, result: Any) -> BroadcastResult:
    if isinstance(result, CallFailure):
        return BroadcastResult(status=classify_rejection(result), message=result.message)
    # Nodes return the transaction hash, which is the hash of its bytes (EIP-2718).
    if result == "0x" + keccak_256(raw).hexdigest():
        return BroadcastResult(status=BroadcastStatus.ACCEPTED, message="")
    return BroadcastResult(status=BroadcastStatus.UNKNOWN, message="the node returned another hash")
