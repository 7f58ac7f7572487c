"""Trouble between the service and its node: calls that are held up at a point, broadcasts that get lost, late answers.

The points are outside of the service: whoever is held up there can be killed, and knows nothing of it.
"""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from eth_utils.crypto import keccak
from hexbytes import HexBytes

from tests.nodes.relay import Body, Forward, NoAnswer, relay
from tests.processes.waiting import wait_for

BROADCAST = "eth_sendRawTransaction"


class Gate:
    """Holds up the calls of one method, before the node gets them or before its answer is given."""

    def __init__(self, method: str, *, answered: bool, most: int | None) -> None:
        self.method, self.answered, self._most = method, answered, most
        # What is held up, or was.
        self.held: list[Any] = []
        self._opened = threading.Event()
        self._lost = False

    def wait(self, *, seconds: float = 30.0) -> None:
        """Until a call is held up."""
        wait_for(lambda: self.held, seconds=seconds)

    def open(self) -> None:
        """Calls go on from now."""
        self._opened.set()

    def lose(self) -> None:
        """Those that are held up get nowhere, as those of a process whose machine died; later ones pass."""
        self._lost = True
        self._opened.set()

    def pass_through(self, calls: list[Any]) -> None:
        """Wait, if one of the calls is meant. Raises NoAnswer where they are lost."""
        meant = [call for call in calls if call["method"] == self.method]
        if not meant or self._opened.is_set() or self._most is not None and len(self.held) >= self._most:
            return
        self.held += meant
        self._opened.wait()
        if self._lost:
            raise NoAnswer


@dataclass(kw_only=True)
class Losses:
    """Which shares of broadcasts get lost, and of all requests come late, by how many seconds at the most."""

    seed: int = 1
    lost: float = 0.0
    late: float = 0.0
    late_seconds: float = 5.0
    # How many there were.
    lost_count: int = 0
    late_count: int = 0
    _rng: random.Random = field(init=False)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)
    _over: threading.Event = field(init=False, default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)

    def stop(self) -> None:
        """Nothing gets lost from now on, and those that wait go on."""
        self.lost = self.late = 0.0
        self._over.set()

    def is_lost(self, call: Any) -> bool:
        with self._lock:
            lost = call["method"] == BROADCAST and self._rng.random() < self.lost
            self.lost_count += lost
        return lost

    def delays(self) -> tuple[float, float]:
        """How many seconds to wait before the node is asked, and before its answer is given."""
        with self._lock:
            if self._rng.random() >= self.late:
                return 0.0, 0.0
            self.late_count += 1
            seconds = self._rng.uniform(0.0, self.late_seconds)
            return (seconds, 0.0) if self._rng.random() < 0.5 else (0.0, seconds)

    def wait(self, seconds: float) -> None:
        if seconds:
            self._over.wait(seconds)


class TroubledNode:
    """A node behind a relay that makes trouble."""

    def __init__(self, rpc_url: str, losses: Losses | None = None) -> None:
        self.rpc_url, self.losses = rpc_url, losses or Losses()
        # The relay's, which the service is to ask.
        self.url = ""
        self._gates: list[Gate] = []

    @contextmanager
    def running(self) -> Iterator["TroubledNode"]:
        """The relay runs while the block does."""
        with relay(self.rpc_url, instead=self._ask) as self.url:
            try:
                yield self
            finally:
                self.losses.stop()
                for gate in self._gates:
                    gate.lose()

    @contextmanager
    def gate(self, method: str, *, answered: bool = False, most: int | None = None) -> Iterator[Gate]:
        """Holds up calls of the method: before the node gets them, or once it has answered. Opens at the end.

        Only so many of them, and later ones pass, where `most` says so.
        """
        gate = Gate(method, answered=answered, most=most)
        self._gates.append(gate)
        try:
            yield gate
        finally:
            gate.open()
            self._gates.remove(gate)

    def _ask(self, asked: Body, forward: Forward) -> Body:
        calls = asked if isinstance(asked, list) else [asked]
        before, after = self.losses.delays()
        self.losses.wait(before)
        self._pass_gates(calls, answered=False)
        lost = [call for call in calls if self.losses.is_lost(call)]
        left = [call for call in calls if call not in lost]
        answers = [_as_if_taken(call) for call in lost]
        if left:
            said = forward(left if isinstance(asked, list) else left[0])
            answers += said if isinstance(said, list) else [said]
        self._pass_gates(calls, answered=True)
        self.losses.wait(after)
        return answers if isinstance(asked, list) else answers[0]

    def _pass_gates(self, calls: list[Any], *, answered: bool) -> None:
        for gate in list(self._gates):
            if gate.answered is answered:
                gate.pass_through(calls)


def _as_if_taken(call: Any) -> Any:
    tx_hash = "0x" + keccak(HexBytes(call["params"][0])).hex()
    return {"jsonrpc": "2.0", "id": call["id"], "result": tx_hash}
