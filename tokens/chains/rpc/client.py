"""JSON-RPC to the nodes of one chain: batches, retries with jitter, failover, and a circuit breaker per URL."""

import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from config.http import json_client
from tokens.chains.rpc.batch import Identity, exchange
from tokens.chains.rpc.endpoint import Endpoint
from tokens.chains.rpc.responses import Behind, Call, CallFailed, read_any, read_executed, read_unrefused, refuse_lacks
from tokens.chains.types import AskedTooMuch, NodeRefused, NodeUnavailable

__all__ = ["Call", "CallFailed", "RpcClient"]

logger = logging.getLogger(__name__)

Found = TypeVar("Found")
# What to make of the results of one node. Raises Retryable where another node is to be asked, or the same again.
Read = Callable[[list[Any]], Found]

# No node is left alone for longer than this, whatever it asks for; the circuit breaker goes on from there.
_LONGEST_REST = 60.0
# The status of an answer, or a question, that would be too large.
_TOO_LARGE = 413


@dataclass
class RpcClient:
    """The nodes of one chain, asked in order of preference.

    A URL is first asked for its `identity`, which on EVM is the chain's id, and left out while it names another chain.
    Errors name a node by its place in the setting, never by its URL, which may carry a key.
    """

    chain_id: int
    urls: tuple[str, ...]
    # The place of each in the setting, where they are asked in another order than the setting's; else 1, 2, ...
    places: tuple[int, ...] = ()
    identity: Identity | None = None
    # Seconds, as `config.http.json_client.post_json` takes them.
    timeout: float = 10.0
    # The most calls in one HTTP request.
    batch_size: int = 50
    # The most bytes of one answer.
    answer_bytes: int = json_client.MAX_ANSWER_BYTES
    # Rounds over the URLs. Between two of them comes a pause with full jitter, whose limit doubles from the first
    # to the longest; both are in seconds.
    attempts: int = 4
    # Seconds that all tries of one call may take together: somebody waits for the answer.
    patience: float = 12.0
    first_pause: float = 0.2
    longest_pause: float = 3.0
    # How many failures in a row open a URL's circuit, and for how many seconds it is then left out.
    breaker_failures: int = 3
    breaker_seconds: float = 30.0
    # While every circuit is open, each URL is asked at most once in so many seconds, so that recovery is noticed and
    # callers don't queue up behind nodes that hang.
    probe_seconds: float = 3.0
    # Seconds that one node may take where all are handed something, one after the other.
    handing_seconds: float = 4.0
    # For how many seconds a URL is not asked for a method that it does not offer.
    lacking_seconds: float = 600.0
    _endpoints: tuple[Endpoint, ...] = field(init=False)

    def __post_init__(self) -> None:
        places = self.places or range(1, len(self.urls) + 1)
        self._endpoints = tuple(
            Endpoint(url=url, number=place, most_bytes=self.answer_bytes)
            for url, place in zip(self.urls, places, strict=True)
        )

    def call(self, method: str, *params: Any) -> Any:
        """The result of one call.

        Raises NodeRefused where the node understood and refused, NodeUnavailable where no node gave an answer.
        """
        (result,) = self.batch([(method, params)])
        if isinstance(result, CallFailed):
            raise NodeRefused(result.message)
        return result

    def call_where_offered(self, method: str, *params: Any) -> Any:
        """The result of one call to a method that many nodes lack.

        Each healthy node is asked once at most, and nothing is held against it. Raises NodeUnavailable where none
        gives a result.
        """
        return self.ask_where_offered(method, [(method, params)], read=read_unrefused)[0]

    def batch(self, calls: Sequence[Call]) -> list[Any]:
        """The results in the order of the calls; a call that the node refused gives a CallFailed.

        All calls that fit into one HTTP request are answered by one node. Raises NodeUnavailable.
        """
        return self._in_parts(calls, lambda part: self._ask_any(part, read_any))

    def require(self, calls: Sequence[Call]) -> list[Any]:
        """As `batch`, for calls that any node of the chain should answer: who refuses one counts as out of order."""
        return self._in_parts(calls, lambda part: self._ask_any(part, read_unrefused))

    def execute(self, calls: Sequence[Call]) -> list[Any]:
        """As `batch`, for `eth_call`: hex, or a CallFailed where the contract's execution failed, and nowhere else.

        A node that says anything else counts as out of order: callers take a CallFailed for a fact about the contract.
        """
        return self._in_parts(calls, lambda part: self._ask_any(part, read_executed))

    def execute_where_kept(self, calls: Sequence[Call]) -> list[Any]:
        """As `execute`, on the state of a block that many nodes have dropped.

        Each healthy node is asked once at most, and nothing is held against it. Raises NodeUnavailable.
        """
        return self._in_parts(calls, lambda part: self._ask_each(part, read_executed))

    def ask(self, calls: Sequence[Call], *, read: Read[Found], divisible: bool = False) -> Found:
        """What `read` makes of the results of all calls, by one node in one request; a refused one is a CallFailed.

        Where `read` raises Retryable, the node counts as out of order. Raises NodeUnavailable; AskedTooMuch where
        answers did not come in time, or were too large. A caller who will then ask for less says that the question is
        `divisible`: it is held against a node only where another one answers it.
        """
        return self._ask_any(calls, read, divisible=divisible)

    def ask_once(self, calls: Sequence[Call], *, read: Read[Found]) -> Found:
        """As `ask`, for what many nodes may lack: each healthy node is asked once, and nothing is held against it."""
        return self._ask_each(calls, read)

    def ask_where_offered(self, method: str, calls: Sequence[Call], *, read: Read[Found]) -> Found:
        """As `ask_once`, for calls to a method that many nodes do not offer; who lacks it is left out for a time."""

        def read_offered(results: list[Any]) -> Found:
            refuse_lacks(results)
            return read(results)

        return self._ask_each(calls, read_offered, method=method)

    def ask_every(self, calls: Sequence[Call]) -> list[list[Any] | None]:
        """The results of the calls by each node, in the setting's order; None where a node gives no answer.

        Each is asked once, whatever its circuit, and nothing is held against it; but one that let us wait is left out
        here for `breaker_seconds`, because callers have others to hear.
        """
        return [
            None if endpoint.lets_wait() else self._hear(endpoint, calls, timeout=self.timeout)
            for endpoint in self._endpoints
        ]

    def hand_out(self, calls: Sequence[Call]) -> list[list[Any] | None]:
        """As `ask_every`, with what as many nodes as possible should get, and one of them must.

        None of them may take longer than `handing_seconds`, and where no other gives an answer, those that lately let
        us wait are asked, too.
        """
        timeout = min(self.timeout, self.handing_seconds)
        late = [endpoint.lets_wait() for endpoint in self._endpoints]
        found = [
            None if waits else self._hear(endpoint, calls, timeout=timeout)
            for endpoint, waits in zip(self._endpoints, late, strict=True)
        ]
        if any(results is not None for results in found):
            return found
        return [
            self._hear(endpoint, calls, timeout=timeout) if waits else None
            for endpoint, waits in zip(self._endpoints, late, strict=True)
        ]

    def _hear(self, endpoint: Endpoint, calls: Sequence[Call], *, timeout: float) -> list[Any] | None:
        begun = time.monotonic()
        try:
            return self._ask(endpoint, calls, timeout=timeout)
        except (json_client.Retryable, json_client.Permanent) as error:
            reason = endpoint.censor(str(error))
            logger.warning("chain %s, node %s: %s", self.chain_id, endpoint.number, reason)
            if time.monotonic() - begun >= timeout / 2:
                endpoint.note_wait(seconds=self.breaker_seconds)
            return None

    def _in_parts(self, calls: Sequence[Call], ask: Callable[[Sequence[Call]], list[Any]]) -> list[Any]:
        results: list[Any] = []
        for start in range(0, len(calls), self.batch_size):
            results += ask(calls[start : start + self.batch_size])
        return results

    def _ask_any(self, calls: Sequence[Call], read: Read[Found], *, divisible: bool = False) -> Found:
        reason, too_much = "every node failed lately" if self.urls else "no RPC URL is set", False
        give_up_at = time.monotonic() + self.patience
        refused: set[int] = set()
        overtaxed: list[tuple[Endpoint, Exception]] = []
        for attempt in range(self.attempts):
            if attempt and (len(refused) == len(self._endpoints) or not self._pause(attempt, until=give_up_at)):
                break
            for endpoint in self._askable():
                seconds = give_up_at - time.monotonic()
                if seconds <= 0 or endpoint.number in refused:
                    continue
                try:
                    found = read(self._ask(endpoint, calls, timeout=min(self.timeout, seconds)))
                except (json_client.Retryable, json_client.Permanent) as error:
                    spared = divisible and _is_too_much(error)
                    if spared or isinstance(error, json_client.Permanent):
                        # It would say the same again; another node may not.
                        refused.add(endpoint.number)
                    if spared:
                        overtaxed.append((endpoint, error))
                    elif not isinstance(error, Behind):
                        self._note_failure(endpoint, error)
                    too_much = too_much or _is_too_much(error)
                    reason = f"node {endpoint.number}: {endpoint.censor(str(error))}"
                    logger.warning("chain %s, %s", self.chain_id, reason)
                else:
                    endpoint.note_success()
                    for slow, trouble in overtaxed:
                        self._note_failure(slow, trouble)
                    return found
        raise (AskedTooMuch if too_much else NodeUnavailable)(f"chain {self.chain_id} is out of reach ({reason})")

    def _pause(self, attempt: int, *, until: float) -> bool:
        """Wait before another round; False where all nodes asked to be left alone for longer than the caller waits."""
        limit = min(self.longest_pause, self.first_pause * 2 ** (attempt - 1))
        seconds = random.uniform(0, limit)  # noqa: S311
        now = time.monotonic()
        rest = min((endpoint.rests_until for endpoint in self._endpoints), default=now) - now
        if rest > 0 and now + rest >= until:
            return False
        time.sleep(max(seconds, rest))
        return True

    def _note_failure(self, endpoint: Endpoint, error: Exception) -> None:
        if isinstance(error, json_client.RateLimited) and error.retry_after:
            # It is well, and says when to come back; coming earlier makes providers lock callers out.
            endpoint.note_rest(min(error.retry_after, _LONGEST_REST))
        else:
            endpoint.note_failure(limit=self.breaker_failures, seconds=self.breaker_seconds)

    def _ask_each(self, calls: Sequence[Call], read: Read[Found], *, method: str | None = None) -> Found:
        """One round over the healthy nodes, for what they may lack; with `method`, who lacks it is left out later."""
        reason, too_much = "every node failed or refused lately", False
        give_up_at = time.monotonic() + self.patience
        for endpoint in self._endpoints:
            seconds = give_up_at - time.monotonic()
            if seconds <= 0 or endpoint.is_left_out() or (method and endpoint.lacks(method)):
                continue
            try:
                return read(self._ask(endpoint, calls, timeout=min(self.timeout, seconds)))
            except (json_client.Retryable, json_client.Permanent) as error:
                if method and isinstance(error, json_client.Permanent):
                    endpoint.note_lack(method, seconds=self.lacking_seconds)
                too_much = too_much or _is_too_much(error)
                reason = f"node {endpoint.number}: {endpoint.censor(str(error))}"
        raise (AskedTooMuch if too_much else NodeUnavailable)(f"no node of chain {self.chain_id} has it ({reason})")

    def _askable(self) -> list[Endpoint]:
        """Healthy nodes in the setting's order; while there is none, those whose turn for a probe it is."""
        awake = [endpoint for endpoint in self._endpoints if not endpoint.rests()]
        healthy = [endpoint for endpoint in awake if not endpoint.is_open()]
        return healthy or [endpoint for endpoint in awake if endpoint.claim_probe(every=self.probe_seconds)]

    def _ask(self, endpoint: Endpoint, calls: Sequence[Call], *, timeout: float) -> list[Any]:
        identity = self.identity or Identity(method="eth_chainId", answer=hex(self.chain_id))
        return exchange(endpoint, calls, chain_id=self.chain_id, identity=identity, timeout=timeout)


def _is_too_much(error: Exception) -> bool:
    """Whether asking for less may help where a node gave this error."""
    if isinstance(error, json_client.StatusRefused):
        return error.status == _TOO_LARGE
    return isinstance(error, json_client.TimedOut | json_client.AnswerTooLarge)
