"""Heaps of interactions in time: many accounts within minutes, and few before and after."""

from dataclasses import dataclass

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Facts, Index, Real, Truth, Whole
from leaderboard.facts.grouping import CHUNK
from leaderboard.wash.evidence_accounts import share
from leaderboard.wash.findings import Evidence

# An interaction stands in a burst if within the window around it so many others do, and so many times more than the
# hour around it, outside the window, would let expect. A cast that goes viral has many before and after.
WINDOW = 300
_AROUND = 3_600
_MIN_OTHERS = 4
_TIMES = 6
MAX_LISTED = 30
# Added to the whole, so that one heap in a quiet week proves little.
DOUBT = 5


@dataclass(frozen=True)
class Bursts:
    """Interactions by agent and time, those of one account within a window but once, and which stand in a burst."""

    # Of each agent, the share that does; agent i has those from `starts[i]` up to `starts[i + 1]`.
    measured: Real
    starts: Index
    # Seconds since `since`.
    seconds: Index
    since: int
    inside: Truth

    def describe(self, agent: int) -> Evidence:
        """When an agent's bursts began, how long they lasted, and of how many interactions they were."""
        own = slice(int(self.starts[agent]), int(self.starts[agent + 1]))
        times = self.seconds[own][self.inside[own]] + self.since
        first = np.concatenate([[0], np.flatnonzero(np.diff(times) > WINDOW) + 1]) if len(times) else np.zeros(0, int)
        sizes = np.diff(first, append=len(times))
        largest = np.lexsort((first, -sizes))
        shown = np.sort(largest[:MAX_LISTED])
        return {
            "counted": own.stop - own.start,
            "doubt": DOUBT,
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


def find_bursts(facts: Facts, audience: Audience) -> Bursts:
    """Which interactions stand in bursts, and their share of each agent's."""
    since = facts.computed_at - facts.seconds
    seconds = (facts.interactions.at[audience.rows] - since).astype(np.int32)
    kept = _first_of_window(audience, seconds)
    # Wide enough that no window reaches from an agent's last interaction to the next agent's first.
    span = facts.seconds + 2 * _AROUND
    keys = facts.interactions.agent[audience.rows[kept]].astype(np.int64)
    keys *= span
    keys += seconds[kept]
    keys.sort()
    inside = _in_bursts(keys)
    starts = np.searchsorted(keys, np.arange(audience.agents + 1) * span)
    before = np.concatenate([[0], np.cumsum(inside, dtype=np.int64)])[starts]
    return Bursts(
        measured=share(np.diff(before), np.diff(starts), doubt=DOUBT),
        starts=starts.astype(np.int32),
        seconds=(keys % span).astype(np.int32),
        since=since,
        inside=inside,
    )


def _first_of_window(audience: Audience, seconds: Index) -> Truth:
    """Whether each row is an account's first in a while: who reads on and likes five casts makes no burst."""
    kept = np.ones(len(seconds), np.bool_)
    kept[1:] = np.diff(seconds) > WINDOW
    kept[audience.pair_rows[:-1]] = True
    return kept


def _in_bursts(keys: Whole) -> Truth:
    """Whether each of sorted times has many others in the window around it, and not in the hour around that."""
    inside = np.empty(len(keys), np.bool_)
    for start in range(0, len(keys), CHUNK):
        part = keys[start : start + CHUNK]
        others = _within(keys, part, WINDOW // 2) - 1
        outside = _within(keys, part, _AROUND // 2) - 1 - others
        expected = outside * (WINDOW / (_AROUND - WINDOW))
        inside[start : start + CHUNK] = (others >= _MIN_OTHERS) & (others >= _TIMES * expected)
    return inside


def _within(keys: Whole, part: Whole, reach: int) -> Whole:
    """How many of sorted keys lie within `reach` of each of `part`."""
    return np.searchsorted(keys, part + reach, "right") - np.searchsorted(keys, part - reach)
