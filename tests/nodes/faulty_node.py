"""Faults between the service and its node: calls that are blocked at a point, lost broadcasts, late responses.

The blocking points are outside the service: a process that is blocked there can be killed without notice.
"""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from eth_utils.crypto import keccak
from hexbytes import HexBytes

from tests.nodes.relay import Body, Forward, NoResponseError, relay
from tests.processes.waiting import wait_for

BROADCAST = "eth_sendRawTransaction"


class Gate:
    """Block one method's calls, or all if it is None, before the node gets them or before its response."""

    def __init__(self, method: str | None, *, answered: bool, most: int | None) -> None:
        self.method, self.answered, self._most = method, answered, most
        # Calls that are or were blocked.
        self.held: list[Any] = []
        self._opened = threading.Event()
        self._lost = False

    def wait(self) -> None:
        """Wait until a call is blocked."""
        wait_for(lambda: self.held)

    def open(self) -> None:
        """Let blocked and later calls pass."""
        self._opened.set()

    def lose(self) -> None:
        """Drop the blocked calls, like calls by a process whose machine died; later ones pass."""
        self._lost = True
        self._opened.set()

    def pass_through(self, calls: list[Any]) -> None:
        """Block, if a call has this method. Raises NoResponseError where they are dropped."""
        meant = [call for call in calls if self.method in (None, call["method"])]
        if not meant or self._opened.is_set() or self._most is not None and len(self.held) >= self._most:
            return
        self.held += meant
        self._opened.wait()
        if self._lost:
            raise NoResponseError


@dataclass(kw_only=True)
class Losses:
    """The shares of lost broadcasts and delayed requests, and the longest delay in seconds."""

    seed: int = 1
    lost: float = 0.0
    late: float = 0.0
    late_seconds: float = 5.0
    # Each one's count.
    lost_count: int = 0
    late_count: int = 0
    _rng: random.Random = field(init=False)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)
    _over: threading.Event = field(init=False, default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)

    def stop(self) -> None:
        """Lose nothing from now on, and release delayed requests."""
        self.lost = self.late = 0.0
        self._over.set()

    def is_lost(self, call: Any) -> bool:
        with self._lock:
            lost = call["method"] == BROADCAST and self._rng.random() < self.lost
            self.lost_count += lost
        return lost

    def delays(self) -> tuple[float, float]:
        """Return the seconds to wait before the node is called, and before its response is returned."""
        with self._lock:
            if self._rng.random() >= self.late:
                return 0.0, 0.0
            self.late_count += 1
            seconds = self._rng.uniform(0.0, self.late_seconds)
            return (seconds, 0.0) if self._rng.random() < 0.5 else (0.0, seconds)

    def wait(self, seconds: float) -> None:
        if seconds:
            self._over.wait(seconds)


class FaultyNode:
    """A node behind a relay with faults."""

    def __init__(self, rpc_url: str, losses: Losses | None = None) -> None:
        self.rpc_url, self.losses = rpc_url, losses or Losses()
        # The relay's URL, for the service to call.
        self.url = ""
        self._gates: list[Gate] = []

    @contextmanager
    def running(self) -> Iterator["FaultyNode"]:
        """Run the relay while the block runs."""
        with relay(self.rpc_url, instead=self._forward_request) as self.url:
            try:
                yield self
            finally:
                self.losses.stop()
                for gate in self._gates:
                    gate.lose()

    @contextmanager
    def gate(self, method: str | None, *, answered: bool = False, most: int | None = None) -> Iterator[Gate]:
        """Block the method's calls, before the node gets them or after its response; open the gate at the end.

        All calls are blocked if it is None.
        Only the first `most` are blocked, and later ones pass, if it is set.
        """
        gate = Gate(method, answered=answered, most=most)
        self._gates.append(gate)
        try:
            yield gate
        finally:
            gate.open()
            self._gates.remove(gate)

    def _forward_request(self, request: Body, forward: Forward) -> Body:
        calls = request if isinstance(request, list) else [request]
        before, after = self.losses.delays()
        self.losses.wait(before)
        self._pass_gates(calls, answered=False)
        lost = [call for call in calls if self.losses.is_lost(call)]
        left = [call for call in calls if call not in lost]
        answers = [_success_response(call) for call in lost]
        if left:
            response = forward(left if isinstance(request, list) else left[0])
            answers += response if isinstance(response, list) else [response]
        self._pass_gates(calls, answered=True)
        self.losses.wait(after)
        return answers if isinstance(request, list) else answers[0]

    def _pass_gates(self, calls: list[Any], *, answered: bool) -> None:
        for gate in list(self._gates):
            if gate.answered is answered:
                gate.pass_through(calls)


def _success_response(call: Any) -> Any:
    tx_hash = "0x" + keccak(HexBytes(call["params"][0])).hex()
    return {"jsonrpc": "2.0", "id": call["id"], "result": tx_hash}
