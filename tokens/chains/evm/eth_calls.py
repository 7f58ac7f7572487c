"""Questions to contracts: `eth_call` at the newest block or one by its number, several in one request."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains.abi.codec import Function
from tokens.chains.rpc.client import Call, RpcClient
from tokens.chains.types import NodeUnavailable

# Result name -> value; None where the contract has no such answer: it reverted, or gave back nothing or something else.
Answer = dict[str, Any] | None

# Plenty for a view. Anybody's contract may be asked: without a limit it could keep the node busy.
_GAS = hex(5_000_000)


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A function of a contract with its arguments; `sender` is who seems to call, the zero address where None."""

    contract: str
    function: Function
    arguments: tuple[Any, ...] = ()
    sender: str | None = None

    @property
    def transaction(self) -> dict[str, str]:
        """It as a transaction, for JSON-RPC."""
        transaction = {"to": self.contract, "data": self.function.encode(*self.arguments), "gas": _GAS}
        if self.sender:
            transaction["from"] = self.sender
        return transaction

    def call(self, block: str) -> Call:
        """The JSON-RPC call."""
        return "eth_call", (self.transaction, block)


def ask(rpc: RpcClient, questions: Sequence[Question], *, block: int | None = None) -> list[Answer]:
    """The answers in the order of the questions, as of the end of a block, the newest where None.

    Raises NodeUnavailable, also where nodes refuse for any other reason than the contract's own failure.
    """
    at = "latest" if block is None else hex(block)
    return _decode(questions, rpc.execute([question.call(at) for question in questions]))


def ask_back_then(rpc: RpcClient, asked: Sequence[tuple[Question, int]]) -> list[Answer]:
    """The answers in the order of the questions, each as of the end of a block that may be long ago.

    Where no node gives that state, as of the newest block. Raises NodeUnavailable.
    """
    results: dict[int, Any] = {}
    # From the newest block to the oldest: where a block's state is forgotten, that of older ones is.
    places = sorted(range(len(asked)), key=lambda place: -asked[place][1])
    _ask_kept(rpc, asked, places, results)
    forgotten = [place for place in places if place not in results]
    # In each request with the newest block, because a node that is behind knows nothing of a contract of today.
    size = max(1, rpc.batch_size - 1)
    for part in (forgotten[start : start + size] for start in range(0, len(forgotten), size)):
        *answers, head = rpc.execute([*(asked[place][0].call("latest") for place in part), ("eth_blockNumber", ())])
        newest = asked[part[0]][1]
        if not _is_at(head, newest):
            raise NodeUnavailable(f"the node is behind block {newest}")
        results |= zip(part, answers, strict=True)
    return _decode([question for question, _ in asked], [results[place] for place in range(len(asked))])


def _ask_kept(
    rpc: RpcClient, asked: Sequence[tuple[Question, int]], places: Sequence[int], results: dict[int, Any]
) -> None:
    """Fill in the results at these places, from the newest block on, as far back as nodes keep the state."""
    try:
        answers = rpc.execute_where_kept([asked[place][0].call(hex(asked[place][1])) for place in places])
    except NodeUnavailable:
        blocks = sorted({asked[place][1] for place in places})
        if len(blocks) == 1:
            return
        middle = blocks[len(blocks) // 2]
        newer = [place for place in places if asked[place][1] >= middle]
        _ask_kept(rpc, asked, newer, results)
        if all(place in results for place in newer):
            _ask_kept(rpc, asked, places[len(newer) :], results)
    else:
        results |= zip(places, answers, strict=True)


def _is_at(head: Any, block: int) -> bool:
    try:
        return int(head, 16) >= block
    except (TypeError, ValueError):
        return False


def _decode(questions: Sequence[Question], answers: Sequence[Any]) -> list[Answer]:
    return [
        question.function.decode_output(answer) if isinstance(answer, str) else None
        for question, answer in zip(questions, answers, strict=True)
    ]


def ask_groups(rpc: RpcClient, *groups: Sequence[Question], block: int | None = None) -> list[list[Answer]]:
    """Ask everything in one request, and give the answers in the groups of their questions. Raises NodeUnavailable."""
    answers = iter(ask(rpc, [question for group in groups for question in group], block=block))
    return [[next(answers) for _ in group] for group in groups]


# What a transaction would do on top of a block: `eth_simulateV1`, where a node offers it.
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
