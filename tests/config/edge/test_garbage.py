"""Garbage collections of a web process: one for several large requests, and the sums of their durations."""

import asyncio
import gc
from collections.abc import Iterator, Mapping

import pytest

from config.edge.garbage import MemoryRelease, measure_collections
from config.http.process_sums import take_sums


@pytest.fixture(autouse=True)
def _own_callbacks() -> Iterator[None]:
    """Remove the callbacks of this test, and its sums."""
    before = list(gc.callbacks)
    yield
    gc.callbacks[:] = before
    take_sums()


def test_several_large_requests_cause_one_collection():
    full: list[int] = []

    def note(phase: str, info: Mapping[str, int]) -> None:
        if phase == "stop" and info["generation"] == 2:
            full.append(1)

    async def scene() -> None:
        release = MemoryRelease()
        for _ in range(20):
            release.schedule()
        # By request none: the first one comes after a delay.
        assert full == []
        async with asyncio.timeout(60):
            while not full:
                await asyncio.sleep(0.01)
        release.schedule()
        # Beyond the delay, and within the interval.
        await asyncio.sleep(2)

    gc.callbacks.append(note)
    asyncio.run(scene())
    assert full == [1]


def test_collections_are_measured():
    take_sums()
    measure_collections()
    gc.collect()
    gc.collect(0)
    sums = take_sums()
    assert sums["collection_seconds_count", "2"] == 1
    assert sums["collection_seconds_count", "0"] >= 1
    assert sums["collection_seconds_sum", "2"] > 0
