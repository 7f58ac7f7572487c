"""Questions to contracts: `eth_call` at the newest block, several in one request."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokens.chains.abi import Function
from tokens.chains.rpc import Call, RpcClient

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
    def call(self) -> Call:
        """The JSON-RPC call."""
        transaction = {"to": self.contract, "data": self.function.encode(*self.arguments), "gas": _GAS}
        if self.sender:
            transaction["from"] = self.sender
        return "eth_call", (transaction, "latest")


def ask(rpc: RpcClient, questions: Sequence[Question]) -> list[dict[str, Any] | None]:
    """Result name -> value for each question, in their order; None where the contract has no such answer.

    Raises NodeUnavailable.
    """
    answers = rpc.batch([question.call for question in questions])
    return [
        question.function.decode_output(answer) if isinstance(answer, str) else None
        for question, answer in zip(questions, answers, strict=True)
    ]
