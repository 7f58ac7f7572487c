"""This process's sums for metrics: requests, tasks and node calls, which leave no row that a scrape could count.

They are added in memory. A thread in the process moves them to Redis (`config.redis.stored_sums`), where a scrape of
any web process reads the sums over all processes.
"""

import threading
from bisect import bisect_left
from collections.abc import Mapping

# The sum's name, and its label values.
SumKey = tuple[str, ...]

# Labels come from the code, such as routes and task names. The limit holds even where one would not.
MAX_SUMS = 5_000
# Upper bounds in seconds for a histogram's buckets; a further bucket has no bound.
BUCKETS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)

_sums: dict[SumKey, float] = {}
# Reentrant: a garbage collection may begin while it is held, and its duration is added.
_lock = threading.RLock()


def add_to_sum(key: SumKey, amount: float = 1) -> None:
    """Add to a sum. Beyond MAX_SUMS, a new one is left out."""
    add_to_sums({key: amount})


def add_to_sums(amounts: Mapping[SumKey, float]) -> None:
    """Add to several sums as `add_to_sum`."""
    with _lock:
        for key, amount in amounts.items():
            if key in _sums or len(_sums) < MAX_SUMS:
                _sums[key] = _sums.get(key, 0) + amount


def add_duration(name: str, *labels: str, seconds: float) -> None:
    """Add a duration to the sums `<name>_count` and `<name>_sum`."""
    add_to_sums({(f"{name}_count", *labels): 1, (f"{name}_sum", *labels): seconds})


def add_to_histogram(name: str, *labels: str, seconds: float) -> None:
    """Add a duration to the sums `<name>_bucket`, with its bucket number as the last label, and `<name>_sum`."""
    bucket = str(bisect_left(BUCKETS, seconds))
    add_to_sums({(f"{name}_bucket", *labels, bucket): 1, (f"{name}_sum", *labels): seconds})


def take_sums() -> dict[SumKey, float]:
    """Return all sums since the last call."""
    with _lock:
        sums = dict(_sums)
        _sums.clear()
    return sums
