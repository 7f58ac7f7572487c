"""Wait for a condition, the only way in which tests wait: never for a fixed time."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

# A fault ends a wait after this; a busy machine must not.
_DEADLINE_SECONDS = 120.0


def wait_for(condition: Callable[[], Found], *, seconds: float = _DEADLINE_SECONDS) -> Found:
    """Return the condition's first true result; fail the test without one within the seconds."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"waited {seconds} s in vain for {condition}"
        time.sleep(0.02)
