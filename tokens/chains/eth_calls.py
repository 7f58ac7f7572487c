"""Questions to contracts: `eth_call` at the newest block or one by its number, several in one request."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains.abi import Function
from tokens.chains.base import NodeUnavailable
from tokens.chains.rpc import Call, RpcClient

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


def ask_back_then(rpc: RpcClient, questions: Sequence[Question], *, block: int) -> list[Answer]:
    """As `ask`, as of the end of a block that may be long ago; as of the newest where no node gives that state.

    Raises NodeUnavailable.
    """
    try:
        answers = rpc.execute_where_kept([question.call(hex(block)) for question in questions])
    except NodeUnavailable:
        # In one request with its newest block, because a node that is behind knows nothing of a contract of today.
        *answers, head = rpc.execute([*(question.call("latest") for question in questions), ("eth_blockNumber", ())])
        if not _is_at(head, block):
            raise NodeUnavailable(f"the node is behind block {block}") from None
    return _decode(questions, answers)


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
