"""Heaps of interactions in time: many accounts within minutes, and few before and after."""

from dataclasses import dataclass

import numpy as np

from leaderboard.audiences import Audience
from leaderboard.columns import Facts, Index, Real, Truth, Whole
from leaderboard.wash.findings import Evidence

# An interaction stands in a burst if within the window around it so many others do, and so many times more than the
# hour around it, outside the window, would let expect. A cast that goes viral has many before and after.
WINDOW = 300
_AROUND = 3_600
_MIN_OTHERS = 4
_TIMES = 6
MAX_LISTED = 30


@dataclass(frozen=True)
class Bursts:
    """Interactions by agent and time, those of one account within a window but once, and which stand in a burst."""

    measured: Real
    starts: Index
    at: Whole
    inside: Truth

    def describe(self, agent: int) -> Evidence:
        """When an agent's bursts began, how long they lasted, and of how many interactions they were."""
        own = slice(int(self.starts[agent]), int(self.starts[agent + 1]))
        at, inside = self.at[own], self.inside[own]
        times = at[inside]
        first = np.concatenate([[0], np.flatnonzero(np.diff(times) > WINDOW) + 1]) if len(times) else np.zeros(0, int)
        sizes = np.diff(first, append=len(times))
        largest = np.lexsort((first, -sizes))
        shown = np.sort(largest[:MAX_LISTED])
        return {
            "counted": len(at),
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
    span = 4 * (facts.seconds + 2 * _AROUND)
    seconds = facts.interactions.at[audience.rows] - (facts.computed_at - facts.seconds) + _AROUND
    kept = _first_of_window(audience, seconds)
    agent = facts.interactions.agent[audience.rows[kept]]
    keys = agent.astype(np.int64) * span + seconds[kept]
    keys.sort()
    window = _within(keys, WINDOW // 2)
    around = _within(keys, _AROUND // 2)
    window -= 1
    expected = (around - 1 - window) * (WINDOW / (_AROUND - WINDOW))
    inside = (window >= _MIN_OTHERS) & (window >= _TIMES * expected)
    agent = (keys // span).astype(np.int32)
    total = np.bincount(agent, minlength=audience.agents)
    return Bursts(
        measured=np.bincount(agent[inside], minlength=audience.agents) / np.maximum(total, 1),
        starts=np.searchsorted(agent, np.arange(audience.agents + 1, dtype=np.int32)).astype(np.int32),
        at=keys % span - _AROUND + facts.computed_at - facts.seconds,
        inside=inside,
    )


def _first_of_window(audience: Audience, seconds: Whole) -> Truth:
    """Whether each row is an account's first in a while: who reads on and likes five casts makes no burst."""
    kept = np.ones(len(seconds), np.bool_)
    kept[1:] = np.diff(seconds) > WINDOW
    kept[audience.pair_rows[:-1]] = True
    return kept


def _within(keys: Whole, reach: int) -> Index:
    """How many keys, itself among them, lie within `reach` of each, of sorted keys."""
    # A chunk at a time, so that positions of 64 bits are few.
    found = np.empty(len(keys), np.int32)
    chunk = 1 << 20
    for start in range(0, len(keys), chunk):
        part = keys[start : start + chunk]
        found[start : start + chunk] = np.searchsorted(keys, part + reach, "right") - np.searchsorted(
            keys, part - reach
        )
    return found
