"""What a detector hands out: how strongly it sees something in each agent, by which signs, and in what."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from leaderboard.facts.columns import Real

Evidence = dict[str, Any]


@dataclass(frozen=True)
class Ramp:
    """From nothing at `low` to `top` at `high`, in a straight line."""

    low: float
    high: float
    # Under 1 where the sign is an honest agent's, too, often enough that it must not convict alone.
    top: float = 1.0

    def strength(self, measured: Real) -> Real:
        """0 to `top` for each measured value."""
        return self.top * np.clip((measured - self.low) / (self.high - self.low), 0, 1)


@dataclass(frozen=True)
class Sign:
    """One thing that a detector measures, a value per agent."""

    name: str
    measured: Real
    ramp: Ramp

    @property
    def strength(self) -> Real:
        """0 to 1 for each agent."""
        return self.ramp.strength(self.measured)

    def describe(self, agent: int) -> Evidence:
        """What was measured in an agent, and the ramp that its strength follows from."""
        return {
            "measured": float(self.measured[agent]),
            "low": self.ramp.low,
            "high": self.ramp.high,
            "top": self.ramp.top,
        }


@dataclass(frozen=True)
class Finding:
    """A detector's signs, of which the strongest counts, and how to tell what an agent's were found in.

    `describe` gives JSON-able evidence of a bounded size for an agent's index, out of which each sign's measured value
    can be worked out again; it is called for flagged agents alone.
    """

    signs: tuple[Sign, ...]
    describe: Callable[[int], Evidence]

    @property
    def strength(self) -> Real:
        """0 to 1 for each agent."""
        return reduce(np.maximum, [sign.strength for sign in self.signs])
