"""Grouping equal keys in long columns by sorting, in place if possible to save memory."""

import numpy as np
import numpy.typing as npt

from leaderboard.facts.columns import Int32Array, Int64Array

# Rows looked up at a time, which limits memory for temporary 64-bit positions.
CHUNK = 1 << 20


def count_distinct(keys: Int64Array) -> tuple[Int64Array, Int32Array]:
    """Return the distinct keys, sorted, with their counts. Sorts `keys` in place."""
    keys.sort()
    starts = run_starts(keys)
    return keys[starts], run_lengths(starts, len(keys))


def run_starts(ordered: npt.NDArray[np.signedinteger]) -> Int64Array:
    """Return the start index for each run of equal values in a sorted column."""
    if not len(ordered):
        return np.zeros(0, np.int64)
    return np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1]).astype(np.int64, copy=False)


def run_lengths(starts: Int64Array, end: int) -> Int32Array:
    """Return each run's length; the last run ends before `end`."""
    return np.diff(starts, append=end).astype(np.int32)


def find_positions(ordered: Int64Array, keys: Int64Array) -> Int32Array:
    """Return each key's index in a sorted column with distinct keys; -1 if missing."""
    positions = np.full(len(keys), -1, np.int32)
    if not len(ordered):
        return positions
    for start in range(0, len(keys), CHUNK):
        chunk = keys[start : start + CHUNK]
        candidates = np.minimum(np.searchsorted(ordered, chunk), len(ordered) - 1)
        positions[start : start + CHUNK] = np.where(ordered[candidates] == chunk, candidates, -1)
    return positions
