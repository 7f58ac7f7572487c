"""One node asked over HTTP: calls in batches as large as it takes, and each result in its place."""

import itertools
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from config.http import json_client
from tokens.chains.rpc.endpoint import Endpoint
from tokens.chains.rpc.responses import (
    BatchRefused,
    Call,
    CallFailed,
    Refusal,
    is_hex,
    read_batch,
    read_single,
    refuses_call,
)

logger = logging.getLogger(__name__)

# Of requests; no two calls that are on their way together share one.
_ids = itertools.count(1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """What a node of the right chain answers to a call without parameters."""

    method: str
    answer: str


def exchange(
    endpoint: Endpoint, calls: Sequence[Call], *, chain_id: int, identity: Identity, timeout: float
) -> list[Any]:
    """The results of calls by one node, which must be one of this chain; a refused call is a CallFailed.

    `timeout` is in seconds, for each request. Raises Retryable, Permanent; texts may still hold parts of the URL.
    """
    if not endpoint.verified:
        if _post_single(endpoint, (identity.method, ()), timeout=timeout) != identity.answer:
            raise json_client.Permanent("it is a node of another chain")
        endpoint.verified = True
    return _post(endpoint, calls, chain_id=chain_id, timeout=timeout)


def _post(endpoint: Endpoint, calls: Sequence[Call], *, chain_id: int, timeout: float) -> list[Any]:
    """The results of calls in batches as large as the node takes, or one by one."""
    if len(calls) == 1:
        return [_post_single(endpoint, calls[0], timeout=timeout)]
    if len(calls) > endpoint.most_calls:
        size = endpoint.most_calls
        parts = [calls[start : start + size] for start in range(0, len(calls), size)]
        return [result for part in parts for result in _post_part(endpoint, part, chain_id=chain_id, timeout=timeout)]
    try:
        return _post_batch(endpoint, calls, timeout=timeout)
    except BatchRefused as refused:
        half = (len(calls) + 1) // 2
        halves = (calls[:half], calls[half:])
        results = [
            result for part in halves for result in _post_part(endpoint, part, chain_id=chain_id, timeout=timeout)
        ]
        # Else it was about the range, and not about the batch.
        if not any(isinstance(result, CallFailed) and result.kind is Refusal.RANGE for result in results):
            endpoint.most_calls = min(endpoint.most_calls, half)
            refusal = f"takes no {len(calls)} calls at once: {endpoint.censor(str(refused))}"
            logger.warning("chain %s, node %s %s", chain_id, endpoint.number, refusal)
        return results


def _post_part(endpoint: Endpoint, calls: Sequence[Call], *, chain_id: int, timeout: float) -> list[Any]:
    """As `_post`, and once more where it failed: with it, the answers to all other parts would be lost."""
    try:
        return _post(endpoint, calls, chain_id=chain_id, timeout=timeout)
    except json_client.RateLimited:
        raise
    except json_client.Retryable:
        return _post(endpoint, calls, chain_id=chain_id, timeout=timeout)


def _post_batch(endpoint: Endpoint, calls: Sequence[Call], *, timeout: float) -> list[Any]:
    requests = [_request(call) for call in calls]
    try:
        answer = json_client.post_json(endpoint.url, requests, timeout=timeout, max_bytes=endpoint.most_bytes)
    except json_client.StatusRefused as refused:
        raise BatchRefused(str(refused)) from refused
    results = read_batch({request["id"]: request["method"] for request in requests}, answer)
    return [_censor(endpoint, result) for result in results]


def _post_single(endpoint: Endpoint, call: Call, *, timeout: float) -> Any:
    request = _request(call)
    try:
        answer = json_client.post_json(endpoint.url, request, timeout=timeout, max_bytes=endpoint.most_bytes)
    except json_client.StatusRefused as refused:
        # Some providers send the refusal of a call with a status of its own, mostly 400.
        if not refuses_call(refused.answer, method=request["method"]):
            raise
        answer = refused.answer
    return _censor(endpoint, read_single(request["id"], answer, method=request["method"]))


def _request(call: Call) -> dict[str, Any]:
    method, params = call
    return {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": list(params)}


def _censor(endpoint: Endpoint, result: Any) -> Any:
    if not isinstance(result, CallFailed):
        return result
    # Hex is what a contract returned, and may be long; anything else is the node's words.
    data = result.data if is_hex(result.data) else endpoint.censor(result.data)
    return replace(result, message=endpoint.censor(result.message), data=data)
