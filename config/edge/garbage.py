"""Garbage collections in a web process: rare, never for one request, and measured.

A collection holds the interpreter lock, so that no request runs meanwhile.
"""

import asyncio
import ctypes
import gc
import time
from collections.abc import Mapping

from config.http.process_sums import add_duration

# A large request may be the first of several. The next release comes after the interval, in seconds, or later.
_DELAY, _INTERVAL = 1.0, 10.0
_malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)


class MemoryRelease:
    """One memory release for all large requests in an interval. Used on the event loop only."""

    def __init__(self) -> None:
        self._is_scheduled, self._earliest = False, 0.0

    def schedule(self) -> None:
        """Release memory soon; do nothing if that is scheduled."""
        if self._is_scheduled:
            return
        self._is_scheduled = True
        loop = asyncio.get_running_loop()
        loop.call_at(max(loop.time() + _DELAY, self._earliest), self._release, loop)

    def _release(self, loop: asyncio.AbstractEventLoop) -> None:
        self._is_scheduled, self._earliest = False, loop.time() + _INTERVAL
        loop.run_in_executor(None, release_memory)


def release_memory() -> None:
    """Free reference cycles, such as exceptions with the values that they refused, and then unused pages.

    Otherwise cycles stay for many requests (see the threshold in `config.wsgi`), and glibc keeps freed pages.
    """
    gc.collect()
    if _malloc_trim is not None:
        _malloc_trim(0)


def measure_collections() -> None:
    """Add each collection's duration to this process's sums, by generation, from now on."""
    begun = 0.0

    def measure(phase: str, info: Mapping[str, int]) -> None:
        nonlocal begun
        if phase == "start":
            begun = time.monotonic()
        else:
            add_duration("collection_seconds", str(info["generation"]), seconds=time.monotonic() - begun)

    gc.callbacks.append(measure)
