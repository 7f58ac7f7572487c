"""Findings of detectors: signs per agent, their strength, and the evidence."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from leaderboard.facts.columns import Float64Array

Evidence = dict[str, Any]


@dataclass(frozen=True)
class Ramp:
    """Linear ramp from 0 at `low` to `top` at `high`."""

    low: float
    high: float
    # Under 1 if honest agents often show the sign, too: it must not suffice to accuse.
    top: float = 1.0

    def strength(self, measured: Float64Array) -> Float64Array:
        """Return 0 to `top` for each measured value."""
        return self.top * np.clip((measured - self.low) / (self.high - self.low), 0, 1)


@dataclass(frozen=True)
class Sign:
    """Quantity that a detector measures, one value per agent."""

    name: str
    measured: Float64Array
    ramp: Ramp

    @property
    def strength(self) -> Float64Array:
        """Strength of the sign, 0 to 1 for each agent."""
        return self.ramp.strength(self.measured)

    def describe(self, agent: int) -> Evidence:
        """Return the value measured for an agent, and the ramp that gives its strength."""
        return {
            "measured": float(self.measured[agent]),
            "low": self.ramp.low,
            "high": self.ramp.high,
            "top": self.ramp.top,
        }


@dataclass(frozen=True)
class Finding:
    """Signs of a detector, of which the strongest counts, and a function that describes the evidence.

    `describe` returns JSON-serialisable evidence of bounded size for an agent's index. Each sign's value can be
    recomputed from it. It is called for flagged agents only.
    """

    signs: tuple[Sign, ...]
    describe: Callable[[int], Evidence]

    @property
    def strength(self) -> Float64Array:
        """Strength of the strongest sign, 0 to 1 for each agent."""
        return reduce(np.maximum, [sign.strength for sign in self.signs])
