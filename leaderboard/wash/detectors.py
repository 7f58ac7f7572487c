"""All detectors, and the confidence that they make together."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.audiences import Audience
from leaderboard.columns import Facts, Real, Truth
from leaderboard.wash import concentration, copied_texts, low_scores, rings, self_trades, timing
from leaderboard.wash.findings import Evidence, Finding

# From this strength on a detector raises its flag.
FLAG_STRENGTH = 0.5


@dataclass(frozen=True)
class Detector:
    """A flag, what finds it, and the confidence that its full strength alone gives."""

    flag: str
    find: Callable[[Facts, Audience], Finding]
    weight: float


DETECTORS = tuple(
    Detector(module.FLAG, module.find, module.WEIGHT)
    for module in (concentration, rings, timing, low_scores, copied_texts, self_trades)
)


@dataclass(frozen=True)
class Found:
    """One entry per agent; evidence of flagged agents alone."""

    confidence: Real
    flags: Sequence[tuple[str, ...]]
    evidence: dict[int, Evidence]


def detect(facts: Facts, audience: Audience, *, judged: Truth, without: Collection[str]) -> Found:
    """Lets each detector look, and joins what they find: 1 - product of (1 - weight x strength)."""
    clear = np.ones(audience.agents)
    flags: list[tuple[str, ...]] = [()] * audience.agents
    evidence: dict[int, Evidence] = {}
    for detector in DETECTORS:
        if detector.flag in without:
            continue
        finding = detector.find(facts, audience)
        strength = np.where(judged, np.round(finding.strength, 6), 0)
        clear *= 1 - detector.weight * strength
        for agent in np.flatnonzero(strength >= FLAG_STRENGTH).tolist():
            flags[agent] += (detector.flag,)
            evidence.setdefault(agent, {})[detector.flag] = {
                "strength": float(strength[agent]),
                "weight": detector.weight,
                "signs": {sign.name: sign.describe(agent) for sign in finding.signs},
                **finding.describe(agent),
            }
    return Found(np.round(1 - clear, 6), flags, evidence)
