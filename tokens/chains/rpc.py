"""JSON-RPC to the nodes of one chain: batches, retries with jitter, failover, and a circuit breaker per URL."""

import itertools
import logging
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from config import http
from tokens.chains.base import NodeRefused, NodeUnavailable

logger = logging.getLogger(__name__)

# (method, params)
Call = tuple[str, Sequence[Any]]

# How many failures in a row open a URL's circuit, and how long it then stays out of the rotation.
BREAKER_FAILURES = 3
BREAKER_SECONDS = 30.0

# Pauses before the second, third, ... round over the URLs: full jitter below these limits, in seconds.
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 3.0

# JSON-RPC error codes and words that mean "ask again, or ask another node", by the providers' documentation: EIP-1474
# resource unavailable and limit exceeded, rate limits, and a node that is behind or pruned.
RETRYABLE_CODES = frozenset({-32005, -32002, -32001, 429})
RETRYABLE_WORDS = (
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


@dataclass(frozen=True, slots=True)
class CallFailed:
    """The node's own refusal of one call in a batch."""

    message: str


@dataclass
class _Endpoint:
    """One URL, and how it did lately. Shared by the threads of a process; a lost update costs one more try."""

    url: str
    number: int
    failures: int = 0
    closed_after: float = 0.0
    verified: bool = False

    def is_open(self) -> bool:
        return time.monotonic() < self.closed_after

    def note_failure(self) -> None:
        self.failures += 1
        if self.failures >= BREAKER_FAILURES:
            self.closed_after = time.monotonic() + BREAKER_SECONDS

    def note_success(self) -> None:
        self.failures, self.closed_after = 0, 0.0


@dataclass
class RpcClient:
    """The nodes of one chain, asked in order of preference.

    A URL is first asked for its chain id, and left out while it names another chain. `timeout` is in seconds per HTTP
    request, `attempts` counts rounds over the URLs. Errors name a node by its place in the setting, never by its URL,
    which may carry a key.
    """

    chain_id: int
    urls: tuple[str, ...]
    timeout: float = 10.0
    batch_size: int = 50
    attempts: int = 4
    _endpoints: tuple[_Endpoint, ...] = field(init=False)
    _ids: Iterator[int] = field(init=False, default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self._endpoints = tuple(_Endpoint(url=url, number=number) for number, url in enumerate(self.urls, 1))

    def call(self, method: str, *params: Any) -> Any:
        """The result of one call.

        Raises NodeRefused where the node understood and refused, NodeUnavailable where no node gave an answer.
        """
        (result,) = self.batch([(method, params)])
        if isinstance(result, CallFailed):
            raise NodeRefused(result.message)
        return result

    def batch(self, calls: Sequence[Call]) -> list[Any]:
        """The results in the order of the calls; a call that the node refused gives a CallFailed.

        All calls that fit into one HTTP request are answered by one node. Raises NodeUnavailable.
        """
        results: list[Any] = []
        for start in range(0, len(calls), self.batch_size):
            results += self._ask_any(calls[start : start + self.batch_size])
        return results

    def _ask_any(self, calls: Sequence[Call]) -> list[Any]:
        reason = "no RPC URL is set"
        for attempt in range(self.attempts):
            if attempt:
                limit = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
                time.sleep(random.uniform(0, limit))  # noqa: S311
            for endpoint in self._in_order():
                try:
                    return self._ask(endpoint, calls)
                except (http.Retryable, http.Permanent) as error:
                    endpoint.note_failure()
                    reason = f"node {endpoint.number}: {error}"
                    logger.warning("chain %s, %s", self.chain_id, reason)
        raise NodeUnavailable(f"chain {self.chain_id} is out of reach ({reason})")

    def _in_order(self) -> list[_Endpoint]:
        """Healthy nodes in the setting's order; all of them when every circuit is open, so that recovery is noticed."""
        return [endpoint for endpoint in self._endpoints if not endpoint.is_open()] or list(self._endpoints)

    def _ask(self, endpoint: _Endpoint, calls: Sequence[Call]) -> list[Any]:
        if not endpoint.verified:
            (answer,) = self._post(endpoint, [("eth_chainId", ())])
            if answer != hex(self.chain_id):
                raise http.Permanent("it is a node of another chain")
            endpoint.verified = True
        results = self._post(endpoint, calls)
        endpoint.note_success()
        return results

    def _post(self, endpoint: _Endpoint, calls: Sequence[Call]) -> list[Any]:
        first = next(self._ids)
        ids = [first, *itertools.islice(self._ids, len(calls) - 1)]
        body = [
            {"jsonrpc": "2.0", "id": number, "method": method, "params": list(params)}
            for number, (method, params) in zip(ids, calls, strict=True)
        ]
        # A batch of one goes as a plain call: some nodes refuse batches, and all take that.
        answer = http.post_json(endpoint.url, body[0] if len(body) == 1 else body, timeout=self.timeout)
        return _match(ids, answer)


def _match(ids: list[int], answer: Any) -> list[Any]:
    """Results in the order of the ids; batches may be answered in any order. Raises Retryable."""
    replies = answer if isinstance(answer, list) else [answer]
    if not all(isinstance(reply, dict) for reply in replies):
        raise http.Retryable("an answer that is not JSON-RPC")
    if len(ids) > 1 and not isinstance(answer, list):
        _raise_if_retryable(answer.get("error"))
        raise http.Retryable("a single answer to a batch")
    by_id = {reply.get("id"): reply for reply in replies}
    if any(number not in by_id for number in ids):
        raise http.Retryable("an answer without all of the results")
    return [_result(by_id[number]) for number in ids]


def _result(reply: dict[str, Any]) -> Any:
    if "result" in reply:
        return reply["result"]
    error = reply.get("error")
    _raise_if_retryable(error)
    message = error.get("message") if isinstance(error, dict) else None
    return CallFailed(str(message or "the node refused without a reason"))


def _raise_if_retryable(error: Any) -> None:
    if not isinstance(error, dict):
        return
    message = str(error.get("message", "")).lower()
    if error.get("code") in RETRYABLE_CODES or any(word in message for word in RETRYABLE_WORDS):
        raise http.Retryable(f"refused for now: {message[:200]}")
