"""JSON-RPC requests to one node over HTTP, in batches as large as the node accepts."""

import itertools
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from config.http import json_client
from config.http.errors import HTTPStatusError, PermanentError, RateLimitedError, RetryableError
from tokens.chains.rpc.endpoint import Endpoint
from tokens.chains.rpc.responses import (
    BatchRejectedError,
    Call,
    CallFailure,
    RejectionKind,
    is_call_rejection,
    is_hex,
    parse_batch_response,
    parse_response,
)

logger = logging.getLogger(__name__)

# Request ids; no two calls in flight at once share one.
_ids = itertools.count(1)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChainIdentity:
    """A call without parameters, and the result that identifies a node on the right chain."""

    method: str
    answer: str


def send_calls(
    endpoint: Endpoint, calls: Sequence[Call], *, chain_id: int, identity: ChainIdentity, timeout: float
) -> list[Any]:
    """Return one node's results for the calls after verifying its chain; a rejected call is a CallFailure.

    `timeout` is in seconds per request. Raises RetryableError, PermanentError; their texts may still contain parts of
    the URL.
    """
    if not endpoint.verified:
        if _post_single(endpoint, (identity.method, ()), timeout=timeout) != identity.answer:
            raise PermanentError("it is a node of another chain")
        endpoint.verified = True
    return _post(endpoint, calls, chain_id=chain_id, timeout=timeout)


def _post(endpoint: Endpoint, calls: Sequence[Call], *, chain_id: int, timeout: float) -> list[Any]:
    """Return the results in batches as large as the node accepts, or one by one."""
    if len(calls) == 1:
        return [_post_single(endpoint, calls[0], timeout=timeout)]
    if len(calls) > endpoint.max_batch_size:
        size = endpoint.max_batch_size
        batches = [calls[start : start + size] for start in range(0, len(calls), size)]
        return [
            each for batch in batches for each in _post_retried(endpoint, batch, chain_id=chain_id, timeout=timeout)
        ]
    try:
        return _post_batch(endpoint, calls, timeout=timeout)
    except BatchRejectedError as refused:
        half = (len(calls) + 1) // 2
        halves = (calls[:half], calls[half:])
        results = [
            result for batch in halves for result in _post_retried(endpoint, batch, chain_id=chain_id, timeout=timeout)
        ]
        # Otherwise the rejection concerned the log range, not the batch size.
        if not any(isinstance(result, CallFailure) and result.kind is RejectionKind.RANGE for result in results):
            endpoint.max_batch_size = min(endpoint.max_batch_size, half)
            refusal = f"takes no {len(calls)} calls at once: {endpoint.redact(str(refused))}"
            logger.warning("chain %s, node %s %s", chain_id, endpoint.number, refusal)
        return results


def _post_retried(endpoint: Endpoint, calls: Sequence[Call], *, chain_id: int, timeout: float) -> list[Any]:
    """Post as `_post`, with one retry: a failure would lose all other batches' results."""
    try:
        return _post(endpoint, calls, chain_id=chain_id, timeout=timeout)
    except RateLimitedError:
        raise
    except RetryableError:
        return _post(endpoint, calls, chain_id=chain_id, timeout=timeout)


def _post_batch(endpoint: Endpoint, calls: Sequence[Call], *, timeout: float) -> list[Any]:
    requests = [_request(call) for call in calls]
    try:
        answer = json_client.post_json(endpoint.url, requests, timeout=timeout, max_bytes=endpoint.max_response_bytes)
    except HTTPStatusError as refused:
        raise BatchRejectedError(str(refused)) from refused
    results = parse_batch_response({request["id"]: request["method"] for request in requests}, answer)
    return [_redact(endpoint, result) for result in results]


def _post_single(endpoint: Endpoint, call: Call, *, timeout: float) -> Any:
    request = _request(call)
    try:
        answer = json_client.post_json(endpoint.url, request, timeout=timeout, max_bytes=endpoint.max_response_bytes)
    except HTTPStatusError as refused:
        # Some providers return a call's rejection with an HTTP error status, mostly 400.
        if not is_call_rejection(refused.answer, method=request["method"]):
            raise
        answer = refused.answer
    return _redact(endpoint, parse_response(request["id"], answer, method=request["method"]))


def _request(call: Call) -> dict[str, Any]:
    method, params = call
    return {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": list(params)}


def _redact(endpoint: Endpoint, result: Any) -> Any:
    if not isinstance(result, CallFailure):
        return result
    # Hex is a contract's return data, and may be long; anything else is the node's own text.
    data = result.data if is_hex(result.data) else endpoint.redact(result.data)
    return replace(result, message=endpoint.redact(result.message), data=data)
