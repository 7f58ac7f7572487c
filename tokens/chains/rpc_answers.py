"""What a JSON-RPC answer says: results in order, refusals of a call, and failures of the node. Pure."""

from dataclasses import dataclass
from typing import Any

from config import http

# Refusals that stay: EIP-1474's method not found and invalid params, and 3, with which nodes tell of a revert.
_FINAL_CODES = frozenset({3, -32601, -32602})
# How the call's own execution ends, whatever else the message says: a contract chooses its revert's text.
_FINAL_STARTS = ("execution reverted", "execution aborted", "vm execution error", "out of gas")

# Codes and words that mean "ask again, or ask another node", by the providers' documentation: EIP-1474 resource
# unavailable and limit exceeded, rate limits, and a node that is behind or pruned.
_RETRYABLE_CODES = frozenset({-32005, -32002, -32001, 429})
_RETRYABLE_WORDS = (
    "rate limit",
    "too many requests",
    "timeout",
    "timed out",
    "temporarily unavailable",
    "header not found",
    "missing trie node",
    "unknown block",
    "block not found",
    "internal error",
)


class BatchRefused(http.Permanent):
    """The node does not take this batch, and may take its calls one by one."""


@dataclass(frozen=True, slots=True)
class CallFailed:
    """The node's own refusal of one call."""

    message: str


def read_single(number: int, answer: Any) -> Any:
    """The result of the call with this id, or a CallFailed. Raises Retryable for anything else."""
    if not isinstance(answer, dict):
        raise http.Retryable("an answer that is not JSON-RPC")
    # Nodes leave the id out of errors about requests that they could not read.
    if answer.get("error") is None and answer.get("id") != number:
        raise http.Retryable("an answer to another call")
    return _result(answer)


def read_batch(numbers: list[int], answer: Any) -> list[Any]:
    """The results in the order of the ids; batches may be answered in any order. Raises BatchRefused, Retryable."""
    if isinstance(answer, dict) and answer.get("error") is not None:
        raise BatchRefused(_refusal(answer["error"]).message)
    if not isinstance(answer, list) or not all(isinstance(reply, dict) for reply in answer):
        raise http.Retryable("an answer that is not JSON-RPC")
    replies = {reply["id"]: reply for reply in answer if type(reply.get("id")) is int}
    for reply in answer:
        if reply.get("id") is None and reply.get("error") is not None:
            raise BatchRefused(_refusal(reply["error"]).message)
    if not replies.keys() >= set(numbers):
        raise http.Retryable("an answer without all of the results")
    return [_result(replies[number]) for number in numbers]


def refuses_call(answer: Any) -> bool:
    """Whether the body of an HTTP error is a refusal of the call itself, and not of the caller."""
    error = answer.get("error") if isinstance(answer, dict) else None
    return isinstance(error, dict) and _is_final(error)


def _result(reply: dict[str, Any]) -> Any:
    if reply.get("error") is not None:
        return _refusal(reply["error"])
    if "result" not in reply:
        raise http.Retryable("an answer without a result")
    return reply["result"]


def _refusal(error: Any) -> CallFailed:
    """Raises Retryable where the error tells of the node's trouble and not of the call's."""
    if not isinstance(error, dict):
        raise http.Retryable("an error that is not JSON-RPC")
    message = str(error.get("message") or "the node refused without a reason")
    if not _is_final(error):
        words = message.lower()
        if error.get("code") in _RETRYABLE_CODES or any(word in words for word in _RETRYABLE_WORDS):
            raise http.Retryable(f"refused for now: {message}")
    return CallFailed(message)


def _is_final(error: dict[str, Any]) -> bool:
    code, message = error.get("code"), str(error.get("message", "")).lower()
    return (type(code) is int and code in _FINAL_CODES) or message.startswith(_FINAL_STARTS)
