"""What a JSON-RPC answer says: results in order, refusals of a call, and failures of the node. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from config.http import json_client
from tokens.chains.rpc.block_ranges import read_refusal


class Behind(json_client.Retryable):
    """The node has not come to what it was asked for, and says so: nothing is wrong with it."""


# (method, params)
Call = tuple[str, Sequence[Any]]

# The method whose refusals may be about the range that it asks for.
_OF_RANGES = "eth_getLogs"
# The method whose refusals are about the transaction, or what the node takes now: whoever sends it reads them all.
_OF_TRANSACTIONS = "eth_sendRawTransaction"

_HEX = re.compile("0x[0-9a-fA-F]*")

# With these nodes tell that the call's own execution failed: geth, erigon, reth and anvil; Nethermind.
_EXECUTION_CODES = frozenset({3, -32015})
# The same in words, which other codes come with, too. Only the start counts: a contract chooses its revert's text.
_EXECUTION_STARTS = re.compile(
    r"(?:err(?:or)?: )?(?:"
    r"execution reverted|transaction reverted|reverted\b|vm execution error|vm exception while processing|"
    r"out of gas|gas uint64 overflow|intrinsic gas|invalid (?:opcode|instruction|jump|code)|"
    r"stack (?:underflow|overflow|limit)|return stack|return data out of bounds|write protection|"
    r"precompile|max call depth|"
    # A halt by its name in revm, of which this one is the node's own trouble with its database.
    r"evm error:? (?!fatal|database))"
)
# What a revert returned: Solidity's begins with four bytes that name the error.
_REVERT_DATA = re.compile(r"0x[0-9a-fA-F]{8}")
# Nethermind and its forebears write it before the data.
_REVERTED = "Reverted "

# What a contract wrote comes after one of these, and may be any words.
_REVERTED_STARTS = re.compile(r"(?:err(?:or)?: )?(?:execution reverted|transaction reverted|reverted\b|vm exception)")
# Who is to send a transaction has less than it gives away, or may cost.
_POOR_WORDS = re.compile(
    r"insufficient ?funds|insufficient (?:sender )?balance|up-?front cost .{0,80}\bexceeds|upfront cost exceeds|"
    r"doesn't have enough funds|not enough (?:balance|funds)|would cause overdraft|for sender balance"
)

# A method that the node does not offer: JSON-RPC's and EIP-1474's codes, and providers' words.
_METHOD_CODES = frozenset({-32601, -32004})
_METHOD_WORDS = re.compile(
    r"unsupported method|method\b.*(?:not (?:supported|found|available|allowed|enabled)|unsupported|does not exist)"
)

# Refusals that stay, too: JSON-RPC's invalid params.
_FINAL_CODES = frozenset({-32602})

# Codes and words that mean "ask again, or ask another node", by the providers' documentation: EIP-1474 resource
# unavailable and limit exceeded, internal errors, rate limits, and a node that is behind or pruned.
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

# EVM's methods have a namespace before this, and Solana's none.
_NAMESPACE_END = "_"
# Solana has refusals of its own, some by codes that mean something else on EVM.
# Source: https://github.com/anza-xyz/agave/blob/master/rpc-client-api/src/custom_error.rs
# The node lacks what others have: a block or its status, its health, a slot of its ledger.
_SOLANA_RETRYABLE_CODES = _RETRYABLE_CODES | {-32004, -32009, -32014, -32019}
# The node has not come to the slot that the caller names.
_SOLANA_BEHIND_CODE = frozenset({-32016})
_SOLANA_RETRYABLE_WORDS = (*_RETRYABLE_WORDS, "unhealthy", "behind by", "minimum context slot", "was skipped")
# The node keeps no index of this kind, or no history of transactions at all.
_SOLANA_LACKING_CODES = frozenset({-32601, -32010, -32011})
_SOLANA_VERSION_CODE = frozenset({-32015})
_SOLANA_VERSION_WORDS = re.compile(r"transaction version\b.*not supported")


class BatchRefused(json_client.Permanent):
    """The node does not take this batch, and may take its calls one by one."""


class Refusal(Enum):
    """What a refusal is about."""

    # The contract's: it ran, and failed.
    EXECUTION = auto()
    # The sender's: its balance is too low to try.
    SENDER = auto()
    # The node's: it does not offer the method.
    METHOD = auto()
    # The node's: the range of logs is too long for it, or holds too many.
    RANGE = auto()
    # The transaction's: it is of a version that was not asked for.
    VERSION = auto()
    # Anything else, from which nothing follows about the contract.
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class CallFailed:
    """The node's own refusal of one call."""

    message: str
    kind: Refusal = Refusal.OTHER
    # For a range: how many blocks the node would take, None where it does not say.
    blocks: int | None = None
    # What came with the words: for an execution mostly what it returned, as hex; empty where nothing did.
    data: str = ""


def refuse_failures(results: Iterable[Any]) -> None:
    """Raises Retryable where a node refused what every node of the chain should answer."""
    for result in results:
        if isinstance(result, CallFailed):
            raise json_client.Retryable(f"it refused: {result.message}")


def refuse_lacks(results: Iterable[Any]) -> None:
    """Raises Permanent where a node does not offer the method that it was asked for."""
    for result in results:
        if isinstance(result, CallFailed) and result.kind is Refusal.METHOD:
            raise json_client.Permanent(f"it lacks the method: {result.message}")


def read_any(results: list[Any]) -> list[Any]:
    """The results as they are: a node may refuse a call for what the call asks."""
    return results


def read_unrefused(results: list[Any]) -> list[Any]:
    """The results of calls that any node should answer. Raises Retryable where one is a refusal."""
    refuse_failures(results)
    return results


def read_executed(results: list[Any]) -> list[Any]:
    """The results of `eth_call`. Raises Retryable where one is neither hex nor the contract's own refusal."""
    for result in results:
        if isinstance(result, CallFailed):
            if result.kind is not Refusal.EXECUTION:
                raise json_client.Retryable(f"it refused: {result.message}")
        elif not is_hex(result):
            raise json_client.Retryable("an answer to eth_call that is no hex")
    return results


def is_hex(result: Any) -> bool:
    """Whether it is bytes as JSON-RPC writes them, or a number."""
    return isinstance(result, str) and _HEX.fullmatch(result) is not None


def read_single(number: int, answer: Any, *, method: str) -> Any:
    """The result of the call of the method with this id, or a CallFailed. Raises Retryable for anything else."""
    if not isinstance(answer, dict):
        raise json_client.Retryable("an answer that is not JSON-RPC")
    # Nodes leave the id out of errors about requests that they could not read.
    if answer.get("error") is None and answer.get("id") != number:
        raise json_client.Retryable("an answer to another call")
    return _result(answer, method=method)


def read_batch(methods: Mapping[int, str], answer: Any) -> list[Any]:
    """The results in the order of the calls, whose methods are given by id; batches may be answered in any order.

    Raises BatchRefused, Retryable.
    """
    # A refusal of all is about the batch, unless it is about a range of logs.
    of_all = _OF_RANGES if _OF_RANGES in methods.values() else ""
    if isinstance(answer, dict) and answer.get("error") is not None:
        raise BatchRefused(_refusal(answer["error"], method=of_all).message)
    if not isinstance(answer, list) or not all(isinstance(reply, dict) for reply in answer):
        raise json_client.Retryable("an answer that is not JSON-RPC")
    replies = {reply["id"]: reply for reply in answer if type(reply.get("id")) is int}
    for reply in answer:
        if reply.get("id") is None and reply.get("error") is not None:
            raise BatchRefused(_refusal(reply["error"], method=of_all).message)
    if not replies.keys() >= methods.keys():
        raise json_client.Retryable("an answer without all of the results")
    return [_result(replies[number], method=method) for number, method in methods.items()]


def refuses_call(answer: Any, *, method: str) -> bool:
    """Whether the body of an HTTP error is a refusal of the call itself, and not of the caller."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return False
    if _is_solana(method):
        return _has_code(error, _FINAL_CODES) or _solana_kind(error) is not Refusal.OTHER
    if method == _OF_TRANSACTIONS or _is_final(error):
        return True
    return method == _OF_RANGES and read_refusal(error) is not None


def _result(reply: dict[str, Any], *, method: str) -> Any:
    if reply.get("error") is not None:
        return _refusal(reply["error"], method=method)
    if "result" not in reply:
        raise json_client.Retryable("an answer without a result")
    return reply["result"]


def _refusal(error: Any, *, method: str) -> CallFailed:
    """Raises Retryable where the error tells of the node's trouble and not of the call's."""
    if not isinstance(error, dict):
        raise json_client.Retryable("an error that is not JSON-RPC")
    message = str(error.get("message") or "the node refused without a reason")
    if _is_solana(method):
        return _solana_refusal(error, message)
    # Before the words of rates, which limits of ranges share.
    too_long = read_refusal(error) if method == _OF_RANGES else None
    if too_long is not None:
        return CallFailed(message, kind=Refusal.RANGE, blocks=too_long.blocks)
    if method != _OF_TRANSACTIONS and not _is_final(error):
        words = message.lower()
        if _has_code(error, _RETRYABLE_CODES) or any(word in words for word in _RETRYABLE_WORDS):
            raise json_client.Retryable(f"refused for now: {message}")
    return CallFailed(message, kind=_kind(error), data=_data(error))


def _is_solana(method: str) -> bool:
    return method != "" and _NAMESPACE_END not in method


def _solana_refusal(error: dict[str, Any], message: str) -> CallFailed:
    """As `_refusal`, by Solana's codes."""
    kind = _solana_kind(error)
    if _has_code(error, _SOLANA_BEHIND_CODE):
        raise Behind(f"refused for now: {message}")
    if kind is Refusal.OTHER and not _has_code(error, _FINAL_CODES):
        words = message.lower()
        if _has_code(error, _SOLANA_RETRYABLE_CODES) or any(word in words for word in _SOLANA_RETRYABLE_WORDS):
            raise json_client.Retryable(f"refused for now: {message}")
    return CallFailed(message, kind=kind)


def _solana_kind(error: dict[str, Any]) -> Refusal:
    words = str(error.get("message", "")).lower()
    if _has_code(error, _SOLANA_VERSION_CODE) or _SOLANA_VERSION_WORDS.search(words):
        return Refusal.VERSION
    lacking = _has_code(error, _SOLANA_LACKING_CODES) or _METHOD_WORDS.search(words)
    return Refusal.METHOD if lacking else Refusal.OTHER


def _data(error: dict[str, Any]) -> str:
    """What came with the words: a text, or one in an object of that name, where some providers put it."""
    data = error.get("data")
    if isinstance(data, dict):
        data = data.get("data")
    return data.removeprefix(_REVERTED) if isinstance(data, str) else ""


def _is_final(error: dict[str, Any]) -> bool:
    return _has_code(error, _FINAL_CODES) or _kind(error) is not Refusal.OTHER


def _kind(error: dict[str, Any]) -> Refusal:
    message, data = str(error.get("message", "")).lower(), _data(error)
    # Nethermind and its forebears say it beside the message, with the code of an execution.
    if (
        not _REVERTED_STARTS.match(message)
        and not _REVERT_DATA.match(data)
        and _POOR_WORDS.search(f"{message} {data.lower()}")
    ):
        return Refusal.SENDER
    executed = _has_code(error, _EXECUTION_CODES) or _EXECUTION_STARTS.match(message) or _REVERT_DATA.match(data)
    if executed:
        return Refusal.EXECUTION
    lacking = _has_code(error, _METHOD_CODES) or _METHOD_WORDS.search(message)
    return Refusal.METHOD if lacking else Refusal.OTHER


def _has_code(error: dict[str, Any], codes: frozenset[int]) -> bool:
    code = error.get("code")
    return type(code) is int and code in codes
