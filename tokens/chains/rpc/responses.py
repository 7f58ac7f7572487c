"""Parsers for JSON-RPC responses: results in order, call rejections, and node failures. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from config.http.errors import PermanentError, RetryableError
from tokens.chains.rpc.block_ranges import parse_range_limit
from tokens.chains.rpc.quantities import parse_data


class NodeBehindError(RetryableError):
    """The node reports that it has not reached the requested block or slot: it is healthy."""


# (method, params)
Call = tuple[str, Sequence[Any]]

# Method whose errors may concern the requested range.
_LOGS_METHOD = "eth_getLogs"
# Method whose errors concern the transaction or the node's pool: its caller classifies them all.
_BROADCAST_METHOD = "eth_sendRawTransaction"

_HEX = re.compile("0x[0-9a-fA-F]*")

# Codes of a failed execution: geth, erigon, reth and anvil; Nethermind.
_EXECUTION_CODES = frozenset({3, -32015})
# The same as text, also with other codes. Only the start counts: a contract chooses its revert text.
_EXECUTION_STARTS = re.compile(
    r"(?:err(?:or)?: )?(?:"
    r"execution reverted|transaction reverted|reverted\b|vm execution error|vm exception while processing|"
    r"out of gas|gas uint64 overflow|intrinsic gas|invalid (?:opcode|instruction|jump|code)|"
    r"stack (?:underflow|overflow|limit)|return stack|return data out of bounds|write protection|"
    r"precompile|max call depth|"
    # A halt by its name in revm; a fatal or database error is the node's own.
    r"evm error:? (?!fatal|database))"
)
# Return data of a revert: Solidity's begins with four bytes that identify the error.
_REVERT_DATA = re.compile(r"0x[0-9a-fA-F]{8}")
# Nethermind and its predecessors write it before the data.
_REVERTED = "Reverted "

# After one of these comes the contract's own text, which may be anything.
_REVERTED_STARTS = re.compile(r"(?:err(?:or)?: )?(?:execution reverted|transaction reverted|reverted\b|vm exception)")
# The sender's balance does not cover the value or the maximum cost.
_POOR_WORDS = re.compile(
    r"insufficient ?funds|insufficient (?:sender )?balance|up-?front cost .{0,80}\bexceeds|upfront cost exceeds|"
    r"doesn't have enough funds|not enough (?:balance|funds)|would cause overdraft|for sender balance"
)

# A method that the node does not offer: JSON-RPC's and EIP-1474's codes, and providers' texts.
_METHOD_CODES = frozenset({-32601, -32004})
_METHOD_WORDS = re.compile(
    r"unsupported method|method\b.*(?:not (?:supported|found|available|allowed|enabled)|unsupported|does not exist)"
)

# Permanent rejections, too: JSON-RPC's invalid params.
_FINAL_CODES = frozenset({-32602})

# Codes and texts for retryable errors, by the providers' documentation: EIP-1474 resource unavailable and limit
# exceeded, internal errors, rate limits, and a node that is behind or pruned.
_RETRYABLE_CODES = frozenset({-32603, -32007, -32005, -32002, -32001, 429})
_RETRYABLE_WORDS = (
    "limit",
    "exceeded",
    "too many requests",
    "timeout",
    "timed out",
    "unavailable",
    "not available",
    "header not found",
    "missing trie node",
    "unknown block",
    "block not found",
    "internal error",
    "internal server error",
)

# EVM methods have a namespace before this; Solana's have none.
_NAMESPACE_END = "_"
# Solana has errors of its own, some with codes that mean something else on EVM. Source:
# https://github.com/anza-xyz/agave/blob/master/rpc-client-api/src/custom_error.rs
# The node lacks data that others have: a block or its status, its health, a slot in its ledger.
_SOLANA_RETRYABLE_CODES = _RETRYABLE_CODES | {-32004, -32009, -32014, -32019}
# The node has not reached the caller's minimum slot.
_SOLANA_BEHIND_CODE = frozenset({-32016})
_SOLANA_RETRYABLE_WORDS = (*_RETRYABLE_WORDS, "unhealthy", "behind by", "minimum context slot", "was skipped")
# The node keeps no index of this kind, or no transaction history at all.
_SOLANA_LACKING_CODES = frozenset({-32601, -32010, -32011})
_SOLANA_VERSION_CODE = frozenset({-32015})
_SOLANA_VERSION_WORDS = re.compile(r"transaction version\b.*not supported")


class BatchRejectedError(PermanentError):
    """The node rejects this batch, and may accept its calls one by one."""


class RejectionKind(Enum):
    """The cause of a rejected call."""

    # The contract: its execution failed.
    EXECUTION = auto()
    # The sender: the balance is too low to execute.
    SENDER = auto()
    # The node: it does not offer the method.
    METHOD = auto()
    # The node: the log range is too long, or has too many logs.
    RANGE = auto()
    # The transaction: its version was not requested.
    VERSION = auto()
    # Any other cause, which proves nothing about the contract.
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class CallFailure:
    """A node's rejection of one call."""

    message: str
    kind: RejectionKind = RejectionKind.OTHER
    # For a range: the number of blocks that the node would accept, None if unspecified.
    blocks: int | None = None
    # The error's data: for an execution mostly its return data as hex, or empty.
    data: str = ""


def require_results(results: Iterable[Any]) -> None:
    """Raise RetryableError if a node rejected a call that every node of the chain must serve."""
    for result in results:
        if isinstance(result, CallFailure):
            raise RetryableError(f"it refused: {result.message}")


def require_method_offered(results: Iterable[Any]) -> None:
    """Raise PermanentError if a node does not offer the requested method."""
    for result in results:
        if isinstance(result, CallFailure) and result.kind is RejectionKind.METHOD:
            raise PermanentError(f"it lacks the method: {result.message}")


def accept_results(results: list[Any]) -> list[Any]:
    """Return results for calls that every node must serve. Raises RetryableError if one is a rejection."""
    require_results(results)
    return results


def accept_executions(results: list[Any]) -> list[Any]:
    """Return `eth_call` results. Raises RetryableError unless each is hex bytes or a failed execution.

    Callers treat a CallFailure as a fact about the contract.
    """
    for result in results:
        if isinstance(result, CallFailure):
            if result.kind is not RejectionKind.EXECUTION:
                raise RetryableError(f"it refused: {result.message}")
        else:
            parse_data(result)
    return results


def is_hex(result: Any) -> bool:
    """Return whether it is hex as in JSON-RPC, bytes or a number."""
    return isinstance(result, str) and _HEX.fullmatch(result) is not None


def parse_response(number: int, response: Any, *, method: str) -> Any:
    """Return the result for the call with this id, or a CallFailure. Raises RetryableError for anything else."""
    if not isinstance(response, dict):
        raise RetryableError("a response that is not JSON-RPC")
    # Nodes omit the id in errors about requests that they could not parse.
    if response.get("error") is None and response.get("id") != number:
        raise RetryableError("a response to another call")
    return _result(response, method=method)


def parse_batch_response(methods: Mapping[int, str], response: Any) -> list[Any]:
    """Return the results in the same order as `methods`, which maps id to method; the response may be in any order.

    Raises BatchRejectedError, RetryableError.
    """
    # An error for all calls concerns the batch, unless it concerns a log range.
    method_of_all = _LOGS_METHOD if _LOGS_METHOD in methods.values() else ""
    if isinstance(response, dict) and response.get("error") is not None:
        raise BatchRejectedError(_parse_rejection(response["error"], method=method_of_all).message)
    if not isinstance(response, list) or not all(isinstance(reply, dict) for reply in response):
        raise RetryableError("a response that is not JSON-RPC")
    replies = {reply["id"]: reply for reply in response if type(reply.get("id")) is int}
    for reply in response:
        if reply.get("id") is None and reply.get("error") is not None:
            raise BatchRejectedError(_parse_rejection(reply["error"], method=method_of_all).message)
    if not replies.keys() >= methods.keys():
        raise RetryableError("a response without all of the results")
    return [_result(replies[number], method=method) for number, method in methods.items()]


def is_call_rejection(response: Any, *, method: str) -> bool:
    """Return whether an HTTP error's body rejects the call itself, and not the client."""
    error = response.get("error") if isinstance(response, dict) else None
    if not isinstance(error, dict):
        return False
    if _is_solana(method):
        return _has_code(error, _FINAL_CODES) or _solana_kind(error) is not RejectionKind.OTHER
    if method == _BROADCAST_METHOD or _is_final(error):
        return True
    return method == _LOGS_METHOD and parse_range_limit(error) is not None


def _result(reply: dict[str, Any], *, method: str) -> Any:
    if reply.get("error") is not None:
        return _parse_rejection(reply["error"], method=method)
    if "result" not in reply:
        raise RetryableError("a response without a result")
    return reply["result"]


def _parse_rejection(error: Any, *, method: str) -> CallFailure:
    """Build the CallFailure. Raises RetryableError if the error is the node's failure, not the call's."""
    if not isinstance(error, dict):
        raise RetryableError("an error that is not JSON-RPC")
    message = str(error.get("message") or "the node refused without a reason")
    if _is_solana(method):
        return _parse_solana_rejection(error, message)
    # Before rate limit texts, which range limits share.
    too_long = parse_range_limit(error) if method == _LOGS_METHOD else None
    if too_long is not None:
        return CallFailure(message, kind=RejectionKind.RANGE, blocks=too_long.blocks)
    if method != _BROADCAST_METHOD and not _is_final(error):
        words = message.lower()
        if _has_code(error, _RETRYABLE_CODES) or any(word in words for word in _RETRYABLE_WORDS):
            raise RetryableError(f"refused for now: {message}")
    return CallFailure(message, kind=_kind(error), data=_data(error))


def _is_solana(method: str) -> bool:
    return method != "" and _NAMESPACE_END not in method


def _parse_solana_rejection(error: dict[str, Any], message: str) -> CallFailure:
    """Build the CallFailure by Solana's error codes, as `_parse_rejection`."""
    kind = _solana_kind(error)
    if _has_code(error, _SOLANA_BEHIND_CODE):
        raise NodeBehindError(f"refused for now: {message}")
    if kind is RejectionKind.OTHER and not _has_code(error, _FINAL_CODES):
        words = message.lower()
        if _has_code(error, _SOLANA_RETRYABLE_CODES) or any(word in words for word in _SOLANA_RETRYABLE_WORDS):
            raise RetryableError(f"refused for now: {message}")
    return CallFailure(message, kind=kind)


def _solana_kind(error: dict[str, Any]) -> RejectionKind:
    words = str(error.get("message", "")).lower()
    if _has_code(error, _SOLANA_VERSION_CODE) or _SOLANA_VERSION_WORDS.search(words):
        return RejectionKind.VERSION
    lacking = _has_code(error, _SOLANA_LACKING_CODES) or _METHOD_WORDS.search(words)
    return RejectionKind.METHOD if lacking else RejectionKind.OTHER


def _data(error: dict[str, Any]) -> str:
    """Return the error's data: a text, or the `data` text of an object, as some providers send it."""
    data = error.get("data")
    if isinstance(data, dict):
        data = data.get("data")
    return data.removeprefix(_REVERTED) if isinstance(data, str) else ""


def _is_final(error: dict[str, Any]) -> bool:
    return _has_code(error, _FINAL_CODES) or _kind(error) is not RejectionKind.OTHER


def _kind(error: dict[str, Any]) -> RejectionKind:
    message, data = str(error.get("message", "")).lower(), _data(error)
    # Nethermind and its predecessors put it beside the message, with the code of an execution.
    if (
        not _REVERTED_STARTS.match(message)
        and not _REVERT_DATA.match(data)
        and _POOR_WORDS.search(f"{message} {data.lower()}")
    ):
        return RejectionKind.SENDER
    executed = _has_code(error, _EXECUTION_CODES) or _EXECUTION_STARTS.match(message) or _REVERT_DATA.match(data)
    if executed:
        return RejectionKind.EXECUTION
    lacking = _has_code(error, _METHOD_CODES) or _METHOD_WORDS.search(message)
    return RejectionKind.METHOD if lacking else RejectionKind.OTHER


def _has_code(error: dict[str, Any], codes: frozenset[int]) -> bool:
    code = error.get("code")
    return type(code) is int and code in codes
