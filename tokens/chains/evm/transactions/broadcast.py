"""Handing signed transactions to every node of a chain, and making one verdict of their answers."""

from collections.abc import Iterable, Sequence
from typing import Any

from eth_utils.crypto import keccak

from tokens.chains.evm.transactions.node_rejections import verdict_of
from tokens.chains.rpc.client import CallFailed, RpcClient
from tokens.chains.transaction_types import Sent, Verdict

_BEST_FIRST = list(Verdict)
_NO_ANSWER = Sent(verdict=Verdict.UNANSWERED, words="no node gave an answer")


def broadcast(rpc: RpcClient, raws: Sequence[bytes]) -> list[Sent]:
    """As `Chain.broadcast`."""
    sent: list[Sent] = []
    for start in range(0, len(raws), rpc.batch_size):
        sent += _broadcast_part(rpc, raws[start : start + rpc.batch_size])
    return sent


def _broadcast_part(rpc: RpcClient, raws: Sequence[bytes]) -> list[Sent]:
    answers = rpc.hand_out([("eth_sendRawTransaction", ("0x" + raw.hex(),)) for raw in raws])
    heard = [results for results in answers if results is not None]
    return [_best(_judge(raw, results[place]) for results in heard) for place, raw in enumerate(raws)]


def _best(told: Iterable[Sent]) -> Sent:
    return min(told, key=lambda sent: _BEST_FIRST.index(sent.verdict), default=_NO_ANSWER)


def _judge(raw: bytes, result: Any) -> Sent:
    if isinstance(result, CallFailed):
        return Sent(verdict=verdict_of(result), words=result.message)
    # The hash of a transaction is that of its bytes (EIP-2718), and nodes answer with it.
    if result == "0x" + keccak(raw).hex():
        return Sent(verdict=Verdict.TAKEN, words="")
    return Sent(verdict=Verdict.UNANSWERED, words="it answered with another hash")
