"""The service processes' memory while they run: PSS, so that pages that several share count once."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from statistics import linear_regression, median
from typing import NamedTuple

import psutil

from tests.chaos.harness import repeatedly
from tests.processes.service_processes import Service


class Growth(NamedTuple):
    """A process's and its children's memory in MB: medians in the first and last quarter, and MB an hour.

    The slope belongs to the straight line through all samples.
    """

    first: float
    last: float
    slope: float


class MemoryWatch:
    """Memory samples by process name, as (time.monotonic(), MB)."""

    def __init__(self, running: Callable[[], Mapping[str, Service]]) -> None:
        self.samples: dict[str, list[tuple[float, float]]] = {}
        self._running = running

    def watching(self, seconds: float) -> AbstractContextManager[None]:
        """Sample each process every so many seconds while the block runs."""
        return repeatedly(self._sample, seconds=seconds)

    def _sample(self) -> None:
        for name, running in list(self._running().items()):
            if (size := proportional_set_size(running.process.pid)) is not None:
                self.samples.setdefault(name, []).append((time.monotonic(), size))

    def growth(self, *, since: float) -> dict[str, Growth]:
        """Return each process's growth after its warm-up, which ends at a time."""
        warm = {name: [entry for entry in entries if entry[0] >= since] for name, entries in self.samples.items()}
        return {name: growth_of(entries) for name, entries in warm.items() if len(entries) >= 4}


def growth_of(samples: Sequence[tuple[float, float]]) -> Growth:
    """Compare the first quarter among at least four samples with the last one."""
    sizes, quarter = [size for _, size in samples], len(samples) // 4
    slope = linear_regression([at / 3600 for at, _ in samples], sizes).slope
    return Growth(round(median(sizes[:quarter]), 1), round(median(sizes[-quarter:]), 1), round(slope, 1))


def proportional_set_size(pid: int) -> float | None:
    """Return a process's and its descendants' PSS in MB; None if it has ended or just begins."""
    total = 0
    with suppress(psutil.NoSuchProcess, OSError):
        process = psutil.Process(pid)
        for each in (process, *process.children(recursive=True)):
            lines = Path(f"/proc/{each.pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        return total / 1024 or None
    return None
