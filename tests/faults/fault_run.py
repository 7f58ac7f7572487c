"""A service's run at half its ceiling while something ends or stalls at intervals, and its check."""

import os
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from development.standins.market_server import MarketStandIn
from tests.chaos.harness import Result, Span, kill_and_compare, wait_supervised
from tests.faults.fault_kinds import Disk, all_faults, server_disks
from tests.faults.fault_table import count_by_fault
from tests.faults.paced_load import MIX, PacedLoad, paced_load
from tests.faults.process_memory import MemoryWatch
from tests.processes.stream_clients import ResumingReader
from tests.upgrade.former_version import this_version
from tests.upgrade.loaded_service import LoadedRun, LoadedService, LoadPlan, loaded_service, streams_open

# Sample tokens' chain with market data from the stand-in.
_PROVIDER_CHAIN = 8453
_MEMORY_SAMPLES = 300
# Memory that does not count as a growth: this share, or these MB.
_FLAT_SHARE, _FLAT_MB = 0.1, 10.0


@dataclass(frozen=True, kw_only=True)
class FaultPlan(LoadPlan):
    """A run's quantities."""

    # The run's length, seconds between two faults, and the duration for those that last.
    minutes: float
    every: float
    lasting: float
    # Seconds for measuring the ceiling, and its clients.
    ceiling_seconds: float
    ceiling_clients: int = 8
    seed: int = 1

    @property
    def faults(self) -> int:
        return max(1, round(self.minutes * 60 / self.every))


def run(directory: Path, plan: FaultPlan, *, source: str = "") -> Result:
    """Measure the ceiling, hold half under the planned faults, and check the result.

    Only root can make disks full; without it these faults are left out. `source` is the URL of a migrated database to
    copy, if there is one.
    """
    with ExitStack() as stack:
        disks = server_disks(directory) if os.geteuid() == 0 else None
        for disk in disks or ():
            stack.enter_context(disk.mounted())
        market = stack.enter_context(MarketStandIn())
        settings = {"MARKET_PROVIDER_CHAINS": str(_PROVIDER_CHAIN), "MARKET_BASE_URL": market.url}
        ground = stack.enter_context(loaded_service(directory, plan, this_version(source), settings))
        ground.service.start_standby("web", this_version())
        streams, load = stack.enter_context(streams_open(ground, plan)), stack.enter_context(paced_load())
        return kill_and_compare(_FaultRun(ground, plan, load, streams, market, disks), faults=plan.faults)


class _FaultRun(LoadedRun):
    # As in deploy/systemd.
    restart_delay = 2.0

    def __init__(
        self,
        ground: LoadedService,
        plan: FaultPlan,
        load: PacedLoad,
        streams: list[ResumingReader],
        market: MarketStandIn,
        disks: tuple[Disk, Disk] | None,
    ) -> None:
        super().__init__(ground, plan, load, streams)
        self.supervised, self._plan = ground.service, plan
        self.faults = all_faults(ground, market, disks, random.Random(plan.seed), seconds=plan.lasting)
        self._memory = MemoryWatch(lambda: ground.service.running)
        self._began, self._ceiling = float("inf"), 0.0

    @contextmanager
    def load(self) -> Iterator[None]:
        """Load the service while the processes' memory is watched."""
        plan = self._plan
        watching = self._memory.watching(max(1.0, plan.faults * plan.every / _MEMORY_SAMPLES))
        with self.chain_and_clients(), watching:
            targets = self.targets(MIX)
            self._ceiling = self.paced.measure_ceiling(
                targets, clients=plan.ceiling_clients, seconds=plan.ceiling_seconds
            )
            self.paced.begin(targets, rate=self._ceiling / 2)
            self._began = time.monotonic() + plan.every / 2
            yield
            wait_supervised(self, lambda: self.done() >= 1.0)
            self.report = self.paced.finish()

    def done(self) -> float:
        return max(0.0, time.monotonic() - self._began) / (self._plan.faults * self._plan.every)

    def figures(self, spans: Sequence[Span]) -> dict[str, Any]:
        """Return the table of faults, the latency, and the memory beside what all loaded runs have.

        The latency is the 95th and 99.9th percentile and the maximum, in seconds from the time that a request was due.
        """
        samples, memory = self.samples(), self._memory.growth(since=spans[0].began)
        table = count_by_fault(spans, samples, until=max(sample.ended for sample in samples))
        times = sorted(sample.ended - sample.due for sample in self.report.samples if sample.status == 200)
        has_recovered = not any(row.unrecovered for row in table.values())
        return super().figures(spans) | {
            "ceiling": self._ceiling,
            "rate": self._ceiling / 2,
            "faults": {name: asdict(row) for name, row in table.items()},
            "worst recovery": max(row.recovery for row in table.values()) if has_recovered else float("inf"),
            "latency": [round(times[min(int(len(times) * share), len(times) - 1)], 3) for share in (0.95, 0.999, 1.0)],
            "memory": {name: growth._asdict() for name, growth in memory.items()},
            "grown": [
                f"{name} grew from {growth.first} to {growth.last} MB"
                for name, growth in memory.items()
                if growth.last - growth.first > max(_FLAT_MB, growth.first * _FLAT_SHARE)
            ],
        }
