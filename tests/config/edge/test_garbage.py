"""Garbage collections in a web process: one for several large requests, and the sums of their durations."""

import asyncio
import gc
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from config.edge.garbage import MemoryRelease, measure_collections
from config.http.process_sums import take_sums


@pytest.fixture(autouse=True)
def _own_callbacks() -> Iterator[None]:
    """Remove this test's callbacks and sums."""
    before = list(gc.callbacks)
    yield
    gc.callbacks[:] = before
    take_sums()


class ClockedLoop(asyncio.SelectorEventLoop):
    """Event loop whose time only passes by `advance`, and whose threads work one after another."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self.set_default_executor(ThreadPoolExecutor(max_workers=1))

    def time(self) -> float:
        return self._now

    async def advance(self, seconds: float) -> None:
        """Let time pass, run the timers that are due then, and wait for what they start in a thread."""
        self._now += seconds
        due = asyncio.Event()
        self.call_at(self._now, due.set)
        await due.wait()
        await self.run_in_executor(None, int)


def test_several_large_requests_cause_one_collection():
    full: list[int] = []

    def note(phase: str, info: Mapping[str, int]) -> None:
        if phase == "stop" and info["generation"] == 2:
            full.append(1)

    async def scene() -> None:
        release = MemoryRelease()
        for _ in range(20):
            release.schedule()
        # No request collects by itself: the first collection comes after a delay.
        await loop.advance(0.9)
        assert full == []
        await loop.advance(0.2)
        assert full == [1]
        release.schedule()
        # Beyond the delay, and within the interval.
        await loop.advance(9)
        assert full == [1]
        await loop.advance(1.1)
        assert full == [1, 1]

    gc.callbacks.append(note)
    loop = ClockedLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(scene())


def test_collections_are_measured():
    take_sums()
    measure_collections()
    gc.collect()
    gc.collect(0)
    sums = take_sums()
    assert sums["collection_seconds_count", "2"] == 1
    assert sums["collection_seconds_count", "0"] >= 1
    assert sums["collection_seconds_sum", "2"] > 0
