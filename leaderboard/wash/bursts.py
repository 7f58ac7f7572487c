"""Bursts of interactions: many accounts within minutes, and few before and after."""

from dataclasses import dataclass

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import BoolArray, Float64Array, Int32Array, Int64Array, IntervalFacts
from leaderboard.facts.grouping import CHUNK
from leaderboard.wash.evidence_accounts import share
from leaderboard.wash.findings import Evidence

# An interaction is in a burst if at least _MIN_OTHERS others are within BURST_SECONDS around it, and _TIMES as many as
# the rate in the rest of the hour around it predicts. A cast that goes viral has many before and after.
BURST_SECONDS = 300
_SURROUNDING_SECONDS = 3_600
_MIN_OTHERS = 4
_MIN_RATIO = 6
MAX_LISTED = 30
# Added to the total, so that one burst in a quiet week proves little.
SMALL_NUMBER_ALLOWANCE = 5


@dataclass(frozen=True)
class Bursts:
    """Interactions by agent and time, at most one per account in BURST_SECONDS, with a mask of those in bursts."""

    # Share of each agent's interactions in bursts; agent i has the interactions from `starts[i]` to `starts[i + 1]`.
    measured: Float64Array
    starts: Int32Array
    # Seconds since `since`.
    seconds: Int32Array
    since: int
    inside: BoolArray

    def describe(self, agent: int) -> Evidence:
        """Return start, end and size of an agent's bursts."""
        own = slice(int(self.starts[agent]), int(self.starts[agent + 1]))
        times = self.seconds[own][self.inside[own]] + self.since
        first = (
            np.concatenate([[0], np.flatnonzero(np.diff(times) > BURST_SECONDS) + 1])
            if len(times)
            else np.zeros(0, int)
        )
        sizes = np.diff(first, append=len(times))
        largest = np.lexsort((first, -sizes))
        shown = np.sort(largest[:MAX_LISTED])
        return {
            "counted": own.stop - own.start,
            "doubt": SMALL_NUMBER_ALLOWANCE,
            "listed": [
                {
                    "from": int(times[first[burst]]),
                    "to": int(times[first[burst] + sizes[burst] - 1]),
                    "interactions": int(sizes[burst]),
                }
                for burst in shown
            ],
            "others": {
                "bursts": max(len(sizes) - MAX_LISTED, 0),
                "interactions": int(sizes[largest[MAX_LISTED:]].sum()),
            },
        }


def find_bursts(facts: IntervalFacts, audience: Audience) -> Bursts:
    """Find the interactions in bursts, and their share of each agent's interactions."""
    since = facts.computed_at - facts.seconds
    seconds = (facts.interactions.at[audience.rows] - since).astype(np.int32)
    selected = _first_in_succession(audience, seconds)
    # Wide enough to separate an agent's last interaction from the next agent's first.
    span = facts.seconds + 2 * _SURROUNDING_SECONDS
    keys = facts.interactions.agent[audience.rows[selected]].astype(np.int64)
    keys *= span
    keys += seconds[selected]
    keys.sort()
    inside = _in_bursts(keys)
    starts = np.searchsorted(keys, np.arange(audience.agents + 1) * span)
    before = np.concatenate([[0], np.cumsum(inside, dtype=np.int64)])[starts]
    return Bursts(
        measured=share(np.diff(before), np.diff(starts), allowance=SMALL_NUMBER_ALLOWANCE),
        starts=starts.astype(np.int32),
        seconds=(keys % span).astype(np.int32),
        since=since,
        inside=inside,
    )


def _first_in_succession(audience: Audience, seconds: Int32Array) -> BoolArray:
    """Mask the first of an account's interactions in close succession: liking five casts in a row is no burst."""
    selected = np.ones(len(seconds), np.bool_)
    selected[1:] = np.diff(seconds) > BURST_SECONDS
    selected[audience.pair_rows[:-1]] = True
    return selected


def _in_bursts(keys: Int64Array) -> BoolArray:
    """Mask sorted times that have many others within BURST_SECONDS around them, but few in the hour around that."""
    inside = np.empty(len(keys), np.bool_)
    for start in range(0, len(keys), CHUNK):
        part = keys[start : start + CHUNK]
        others = _within(keys, part, BURST_SECONDS // 2) - 1
        outside = _within(keys, part, _SURROUNDING_SECONDS // 2) - 1 - others
        expected = outside * (BURST_SECONDS / (_SURROUNDING_SECONDS - BURST_SECONDS))
        inside[start : start + CHUNK] = (others >= _MIN_OTHERS) & (others >= _MIN_RATIO * expected)
    return inside


def _within(keys: Int64Array, part: Int64Array, reach: int) -> Int64Array:
    """Count the sorted keys within `reach` of each of `part`."""
    return np.searchsorted(keys, part + reach, "right") - np.searchsorted(keys, part - reach)
