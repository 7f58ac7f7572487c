"""Counting equal keys in long columns: by sorting, in place where it can be, which is what the memory allows."""

import numpy as np
import numpy.typing as npt

from leaderboard.facts.columns import Index, Whole

# Rows looked up at once, so that positions of 64 bits are few at any time.
CHUNK = 1 << 20


def distinct(keys: Whole) -> tuple[Whole, Index]:
    """The distinct keys, sorted, and how often each occurs. Sorts `keys` in place."""
    keys.sort()
    starts = beginnings(keys)
    return keys[starts], lengths(starts, len(keys))


def beginnings(ordered: npt.NDArray[np.signedinteger]) -> Whole:
    """Where each run of equal values of a sorted column begins."""
    if not len(ordered):
        return np.zeros(0, np.int64)
    return np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1]).astype(np.int64, copy=False)


def lengths(starts: Whole, end: int) -> Index:
    """How long each run is, of which the last one ends before `end`."""
    return np.diff(starts, append=end).astype(np.int32)


def positions(ordered: Whole, keys: Whole) -> Index:
    """Where each key stands in a sorted column of distinct keys; -1 where it is not in it."""
    found = np.full(len(keys), -1, np.int32)
    if not len(ordered):
        return found
    for start in range(0, len(keys), CHUNK):
        part = keys[start : start + CHUNK]
        at = np.minimum(np.searchsorted(ordered, part), len(ordered) - 1)
        found[start : start + CHUNK] = np.where(ordered[at] == part, at, -1)
    return found
