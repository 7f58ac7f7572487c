"""Bystander: clients at their own addresses that read the list and the probe, and a partner that simulates."""

import multiprocessing
import threading
import time
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection

from benchmarks.attacks.target import Target
from benchmarks.http_load import percentile

_LIST_EVERY, _PROBE_EVERY = 0.025, 0.1
# Below RATE_LIMIT_TRANSACTIONS.
_SIMULATION_EVERY = 0.6
# Requests are sent at fixed times: one that waits does not delay the next ones, so that none is left out.
_AT_ONCE = 64


@dataclass(frozen=True)
class Experience:
    """What the bystander met: response times in seconds, sorted, and responses that were no 200 or did not come."""

    lists: tuple[float, ...]
    probes: tuple[float, ...]
    # Simulations with a partner key; none if the chain's node is stopped.
    simulations: tuple[float, ...]
    failed: int

    @property
    def list_p50(self) -> float:
        """List's median, in seconds."""
        return percentile(self.lists, 50)

    @property
    def list_p99(self) -> float:
        """List's 99th percentile, in seconds."""
        return percentile(self.lists, 99)

    @property
    def slowest_probe(self) -> float:
        """Slowest response from `/healthz`, in seconds."""
        return self.probes[-1]

    @property
    def slowest_simulation(self) -> float:
        """Slowest simulation, in seconds; 0 without any."""
        return max(self.simulations, default=0.0)


class Bystander:
    """A process that requests until the target's end."""

    def __init__(self, target: Target, *, simulates: bool = True) -> None:
        self._here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
        self._process = multiprocessing.get_context("fork").Process(target=_watch, args=(there, target, simulates))
        self._process.start()

    def experience(self) -> Experience:
        """Wait for the end, and return what the bystander met."""
        found: Experience = self._here.recv()
        self._process.join()
        return found


def _watch(pipe: Connection, target: Target, simulates: bool) -> None:
    lists: list[float] = []
    probes: list[float] = []
    simulations: list[float] = []
    failures: list[str] = []
    slots = threading.BoundedSemaphore(_AT_ONCE)

    def request(path: str, source: str, times: list[float]) -> None:
        begun = time.monotonic()
        try:
            if path:
                answer = target.request("GET", path, source=source)
            else:
                answer = target.collect_rewards(key=target.bystander_key, source=source)
            if b" 200 " not in answer[:20]:
                failures.append(answer[:80].decode(errors="replace"))
        except OSError as error:
            failures.append(f"{type(error).__name__}: {error}")
        times.append(time.monotonic() - begun)
        slots.release()

    def send(every: float, path: str, times: list[float]) -> None:
        addresses = count()
        threads = []
        for number in target.rounds(every=every):
            slots.acquire()
            address = next(addresses)
            source = f"127.2.{address // 200 % 200}.{address % 200 + 1}"
            threads.append(threading.Thread(target=request, args=(path.format(number % 20 + 1), source, times)))
            threads[-1].start()
        for thread in threads:
            thread.join()

    beside = [threading.Thread(target=send, args=(_PROBE_EVERY, "/healthz", probes))]
    if simulates:
        # The empty path stands for them.
        beside.append(threading.Thread(target=send, args=(_SIMULATION_EVERY, "", simulations)))
    for thread in beside:
        thread.start()
    send(_LIST_EVERY, "/api/tokens?limit={}", lists)
    for thread in beside:
        thread.join()
    for failure in sorted(set(failures)):
        print(f"bystander: {failure}", flush=True)
    pipe.send(Experience(tuple(sorted(lists)), tuple(sorted(probes)), tuple(simulations), len(failures)))
