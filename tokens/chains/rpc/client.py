"""JSON-RPC client for one chain's nodes: batches, retries with jitter, failover, and a circuit breaker per URL."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from config.http import json_client
from config.http.backoff import Backoff, jitter
from config.http.compute_lock import waiting
from config.http.errors import (
    HTTPStatusError,
    PermanentError,
    RateLimitedError,
    ResponseTimeoutError,
    ResponseTooLargeError,
    RetryableError,
)
from tokens.chains.errors import NodeUnavailableError, RequestTooLargeError
from tokens.chains.rpc.batch import ChainIdentity, send_calls
from tokens.chains.rpc.call_sums import counted
from tokens.chains.rpc.endpoint import Endpoint
from tokens.chains.rpc.responses import Call, NodeBehindError, require_method_offered, require_results

logger = logging.getLogger(__name__)

Found = TypeVar("Found")
Key = TypeVar("Key")
# Parses one node's results. Raises RetryableError if another node, or the same one later, must be queried.
Parse = Callable[[list[Any]], Found]

# Limit of a node's own Retry-After, in seconds; after that its circuit breaker decides.
_LONGEST_REST = 60.0
# HTTP status of a response or request that is too large.
_TOO_LARGE = 413

# End of the running `query_deadline` block, by the monotonic clock.
_block_end: ContextVar[float] = ContextVar("query_deadline", default=math.inf)
# Providers whose nodes' results counted in the running `answering_providers` block.
_answering: ContextVar[set[str] | None] = ContextVar("answering_providers", default=None)


@contextmanager
def answering_providers() -> Iterator[set[str]]:
    """Yield a set to which each query in the block adds the provider whose node's results it returns."""
    providers = set[str]()
    token = _answering.set(providers)
    try:
        yield providers
    finally:
        _answering.reset(token)


@contextmanager
def query_deadline(seconds: float) -> Iterator[None]:
    """Bound all queries in the block, whatever their number, to this many seconds in total.

    Nodes that are still to be tried share the remaining time, so that one that hangs leaves time for the next one.
    """
    token = _block_end.set(min(_block_end.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _block_end.reset(token)


@dataclass(frozen=True, kw_only=True, slots=True)
class QueryPolicy:
    """Which nodes a query goes to, and which failures count against a node.

    By default every node should serve the calls: rounds over the healthy nodes until one does, and each failure counts.
    """

    # Each healthy node at most once, and no failure counts: for data that many nodes lack, such as pruned state.
    one_round: bool = False
    # The same for a method that many nodes do not offer; a node without it is skipped for a time.
    rare_method: str = ""
    # The caller retries with a smaller request: a timeout or a response that is too large counts against a node only if
    # another node serves the request.
    splittable: bool = False


EVERY_NODE = QueryPolicy()
ONE_ROUND = QueryPolicy(one_round=True)


@dataclass
class RpcClient:
    """One chain's nodes, queried in their preferred order.

    The first request to a URL verifies its `identity`, on EVM the chain id; a URL for another chain is skipped. Errors
    name a node by its position in the setting, never by its URL, which may carry a key.
    """

    chain_id: int
    urls: tuple[str, ...]
    # Each URL's position in the setting, if the preferred order differs; else 1, 2, ...
    places: tuple[int, ...] = ()
    identity: ChainIdentity | None = None
    # Seconds per request, as in `config.http.json_client.post_json`.
    timeout: float = 10.0
    # Maximum calls in one HTTP request.
    batch_size: int = 50
    # Maximum bytes in one response.
    max_response_bytes: int = json_client.MAX_RESPONSE_BYTES
    # Rounds over the URLs. The delay between rounds has full jitter; its limit doubles from `initial_backoff` to
    # `max_backoff`, both in seconds.
    attempts: int = 4
    # Deadline in seconds for all attempts at one call, because a caller waits for the result.
    total_timeout: float = 12.0
    initial_backoff: float = 0.2
    max_backoff: float = 3.0
    # This many failures in a row open a URL's circuit, for this many seconds.
    breaker_failures: int = 3
    breaker_seconds: float = 30.0
    # While every circuit is open, one probe per URL passes in this many seconds: recovery is noticed, and callers don't
    # queue behind nodes that hang.
    probe_seconds: float = 3.0
    # Timeout in seconds per node for a broadcast, which goes to all nodes in turn.
    broadcast_timeout: float = 4.0
    # A method that a URL does not offer is not requested there again for this many seconds.
    method_retry_seconds: float = 600.0
    _endpoints: tuple[Endpoint, ...] = field(init=False)

    def __post_init__(self) -> None:
        places = self.places or range(1, len(self.urls) + 1)
        self._endpoints = tuple(
            Endpoint(
                url=url,
                number=number,
                max_response_bytes=self.max_response_bytes,
                failure_limit=self.breaker_failures,
                open_seconds=self.breaker_seconds,
                probe_seconds=self.probe_seconds,
            )
            for url, number in zip(self.urls, places, strict=True)
        )

    @property
    def providers(self) -> list[str]:
        """The provider of each node, in order."""
        return [endpoint.provider for endpoint in self._endpoints]

    def single_nodes(self) -> "list[RpcClient]":
        """Return a client for each node by itself, which is queried once."""
        places = self.places or range(1, len(self.urls) + 1)
        return [
            replace(self, urls=(url,), places=(number,), attempts=1)
            for url, number in zip(self.urls, places, strict=True)
        ]

    def read_consistently(
        self, read: "Callable[[RpcClient], Found]", *, after: tuple[type[RetryableError], ...]
    ) -> Found:
        """Return `read`'s result over all nodes; after these errors, over the first healthy node that suffices.

        For several queries whose responses must fit together: no single response shows which node is wrong, or lacks
        data that others have. Raises as `read`.
        """
        try:
            return read(self)
        except after as error:
            if len(self.urls) == 1:
                raise
            logger.info("chain %s: each node is queried by itself: %s", self.chain_id, error)
            for endpoint, node in zip(self._endpoints, self.single_nodes(), strict=True):
                if endpoint.is_unavailable() or endpoint.is_slow():
                    continue
                begun = time.monotonic()
                try:
                    return read(node)
                except RetryableError:
                    self._mark_if_slow(endpoint, begun=begun, timeout=self.timeout)
            raise

    def query(self, calls: Sequence[Call], *, parse: Parse[Found], policy: QueryPolicy = EVERY_NODE) -> Found:
        """Return `parse`'s result for the results of all calls, from one node in one request.

        A rejected call is a CallFailure. A RetryableError from `parse` is the node's failure. Raises
        NodeUnavailableError; RequestTooLargeError if responses timed out or were too large.
        """
        if policy.one_round or policy.rare_method:
            return self._query_each(calls, parse, method=policy.rare_method)
        return self._query_any(calls, parse, splittable=policy.splittable)

    def batch(self, calls: Sequence[Call], *, parse: Parse[list[Any]], policy: QueryPolicy = EVERY_NODE) -> list[Any]:
        """Return the results in the calls' order, by one query per `batch_size` calls."""
        results: list[Any] = []
        for start in range(0, len(calls), self.batch_size):
            results += self.query(calls[start : start + self.batch_size], parse=parse, policy=policy)
        return results

    def query_each(
        self, keys: Sequence[Key], *, calls: Callable[[Key], Sequence[Call]], parse: Callable[[Key, list[Any]], Any]
    ) -> dict[Key, Any]:
        """Return key -> `parse`'s result for the results of its calls, without keys whose result is None.

        A query has as many keys as `batch_size` allows, with equally many calls each. A rejected call is the node's
        failure. Raises as `query`.
        """
        values: dict[Key, Any] = {}
        size = max(1, self.batch_size // len(calls(keys[0]))) if keys else 1
        for batch in (keys[start : start + size] for start in range(0, len(keys), size)):

            def parse_batch(results: list[Any], batch: Sequence[Key] = batch) -> dict[Key, Any]:
                require_results(results)
                count = len(results) // len(batch)
                return {key: parse(key, results[count * i : count * (i + 1)]) for i, key in enumerate(batch)}

            values |= self.query([call for key in batch for call in calls(key)], parse=parse_batch)
        return {key: value for key, value in values.items() if value is not None}

    def call_all(self, calls: Sequence[Call], *, broadcast: bool = False) -> list[list[Any] | None]:
        """Return each node's results in the setting's order; None for a node that does not respond.

        Calls every node once, even with an open circuit, and counts no failure. A slow node is skipped here for
        `breaker_seconds`, because the caller waits for all nodes in turn. A broadcast should reach as many nodes as
        possible, and at least one: each has `broadcast_timeout`, and slow nodes are called if no other one responds.
        """
        timeout = min(self.timeout, self.broadcast_timeout) if broadcast else self.timeout
        slow = [endpoint.is_slow() for endpoint in self._endpoints]
        responses = [
            None if is_slow else self._call_endpoint(endpoint, calls, timeout=timeout)
            for endpoint, is_slow in zip(self._endpoints, slow, strict=True)
        ]
        if not broadcast or any(results is not None for results in responses):
            return responses
        return [
            self._call_endpoint(endpoint, calls, timeout=timeout) if is_slow else None
            for endpoint, is_slow in zip(self._endpoints, slow, strict=True)
        ]

    def _call_endpoint(self, endpoint: Endpoint, calls: Sequence[Call], *, timeout: float) -> list[Any] | None:
        begun = time.monotonic()
        try:
            return self._send(endpoint, calls, timeout=timeout)
        except (RetryableError, PermanentError) as error:
            reason = endpoint.redact(str(error))
            logger.warning("chain %s, node %s: %s", self.chain_id, endpoint.number, reason)
            self._mark_if_slow(endpoint, begun=begun, timeout=timeout)
            return None

    def _mark_if_slow(self, endpoint: Endpoint, *, begun: float, timeout: float) -> None:
        """Exclude a node that took more than half the timeout to fail from calls that wait for each node."""
        if time.monotonic() - begun >= timeout / 2:
            endpoint.mark_slow(seconds=self.breaker_seconds)

    def _query_any(self, calls: Sequence[Call], parse: Parse[Found], *, splittable: bool) -> Found:
        reason, too_much = "every node failed lately" if self.urls else "no RPC URL is set", False
        deadline = self._query_end()
        refused: set[int] = set()
        overloaded: list[tuple[Endpoint, Exception]] = []
        for attempt in range(self.attempts):
            if attempt and (
                len(refused) == len(self._endpoints) or not self._wait_before_retry(attempt, until=deadline)
            ):
                break
            endpoints = [endpoint for endpoint in self._available_endpoints() if endpoint.number not in refused]
            for index, endpoint in enumerate(endpoints):
                timeout = self._timeout_until(deadline, nodes=len(endpoints) - index)
                if timeout <= 0:
                    continue
                try:
                    parsed = parse(self._send(endpoint, calls, timeout=timeout))
                except (RetryableError, PermanentError) as error:
                    exempt = splittable and _is_too_much(error)
                    if exempt or isinstance(error, PermanentError):
                        # A retry at the same node would fail again; another node may succeed.
                        refused.add(endpoint.number)
                    if exempt:
                        overloaded.append((endpoint, error))
                    elif not isinstance(error, NodeBehindError):
                        self._record_failure(endpoint, error)
                    too_much = too_much or _is_too_much(error)
                    reason = f"node {endpoint.number}: {endpoint.redact(str(error))}"
                    logger.warning("chain %s, %s", self.chain_id, reason)
                else:
                    _record_answer(endpoint)
                    endpoint.record_success()
                    for slow, failure in overloaded:
                        self._record_failure(slow, failure)
                    return parsed
        raise (RequestTooLargeError if too_much else NodeUnavailableError)(
            f"chain {self.chain_id} is out of reach ({reason})"
        )

    def _wait_before_retry(self, attempt: int, *, until: float) -> bool:
        """Sleep before another round; return False after the deadline, and if all nodes back off beyond it."""
        backoff = Backoff(first=self.initial_backoff, longest=self.max_backoff)
        seconds = jitter(0, backoff.delay(attempt))
        now = time.monotonic()
        rest = max(0.0, min((endpoint.backoff_until for endpoint in self._endpoints), default=now) - now)
        if now + rest >= until:
            return False
        with waiting():
            time.sleep(min(max(seconds, rest), until - now))
        return True

    def _query_end(self) -> float:
        return min(time.monotonic() + self.total_timeout, _block_end.get())

    def _timeout_until(self, deadline: float, *, nodes: int) -> float:
        """Return the next node's timeout in seconds; `nodes` nodes share the time in a `query_deadline` block."""
        seconds = deadline - time.monotonic()
        return min(self.timeout, seconds if _block_end.get() == math.inf else seconds / nodes)

    def _record_failure(self, endpoint: Endpoint, error: Exception) -> None:
        if isinstance(error, RateLimitedError) and error.retry_after:
            # The node is healthy and rate-limits; providers lock out clients that retry earlier.
            endpoint.back_off(min(error.retry_after, _LONGEST_REST))
        else:
            endpoint.record_failure()

    def _query_each(self, calls: Sequence[Call], parse: Parse[Found], *, method: str) -> Found:
        """Query each healthy node once; with `method`, skip nodes that do not offer it."""
        reason, too_much = "every node failed or refused lately", False
        deadline = self._query_end()
        for index, endpoint in enumerate(self._endpoints):
            timeout = self._timeout_until(deadline, nodes=len(self._endpoints) - index)
            if timeout <= 0 or endpoint.is_unavailable() or (method and endpoint.is_unsupported(method)):
                continue
            try:
                results = self._send(endpoint, calls, timeout=timeout)
                if method:
                    require_method_offered(results)
                parsed = parse(results)
                _record_answer(endpoint)
                return parsed
            except (RetryableError, PermanentError) as error:
                if method and isinstance(error, PermanentError):
                    endpoint.mark_unsupported(method, seconds=self.method_retry_seconds)
                too_much = too_much or _is_too_much(error)
                reason = f"node {endpoint.number}: {endpoint.redact(str(error))}"
        raise (RequestTooLargeError if too_much else NodeUnavailableError)(
            f"no node of chain {self.chain_id} has it ({reason})"
        )

    def _available_endpoints(self) -> list[Endpoint]:
        """Return the healthy nodes in the setting's order, or, if there is none, those due for a probe."""
        not_backing_off = [endpoint for endpoint in self._endpoints if not endpoint.is_backing_off()]
        healthy = [endpoint for endpoint in not_backing_off if not endpoint.is_open()]
        return healthy or [endpoint for endpoint in not_backing_off if endpoint.claim_probe()]

    def _send(self, endpoint: Endpoint, calls: Sequence[Call], *, timeout: float) -> list[Any]:
        identity = self.identity or ChainIdentity(method="eth_chainId", answer=hex(self.chain_id))
        send = partial(send_calls, endpoint, calls, chain_id=self.chain_id, identity=identity, timeout=timeout)
        return counted(send, calls, chain_id=self.chain_id)


def _record_answer(endpoint: Endpoint) -> None:
    providers = _answering.get()
    if providers is not None:
        providers.add(endpoint.provider)


def _is_too_much(error: Exception) -> bool:
    """Return whether a smaller request may succeed after this error."""
    if isinstance(error, HTTPStatusError):
        return error.status == _TOO_LARGE
    return isinstance(error, ResponseTimeoutError | ResponseTooLargeError)
