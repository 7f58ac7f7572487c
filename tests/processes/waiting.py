"""The one place where tests wait: for a condition, never for a time to pass."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def wait_for(condition: Callable[[], Found], *, seconds: float = 10.0) -> Found:
    """The condition's first true answer. Fails the test where it has none after the seconds."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"waited {seconds} s in vain for {condition}"
        time.sleep(0.02)
