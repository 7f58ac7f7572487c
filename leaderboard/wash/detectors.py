"""All detectors, and the confidence that they make together."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Doubt, Facts, Real, Truth
from leaderboard.wash import concentration, copied_texts, low_scores, rings, self_trades, timing
from leaderboard.wash.findings import Evidence, Finding

# From this confidence on an agent is accused.
ACCUSED = 0.5
# A flag is raised by a detector that alone would give so much confidence. All under it could not give ACCUSED together,
# so that nobody is accused without a flag.
FLAG_SHARE = 0.1
# The evidence of what an earlier ranking found; no flag.
EARLIER = "EARLIER"


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
    """One entry per agent; evidence of each detector that may raise its flag, accused or not."""

    confidence: Real
    flags: Sequence[tuple[str, ...]]
    evidence: dict[int, Evidence]


def detect(facts: Facts, audience: Audience, *, judged: Truth, without: Collection[str]) -> Found:
    """Lets each detector look, and joins what they find: 1 - product of (1 - weight x strength)."""
    clear = np.ones(audience.agents)
    evidence: dict[int, Evidence] = {}
    for detector in DETECTORS:
        if detector.flag in without:
            continue
        finding = detector.find(facts, audience)
        strength = np.where(judged, np.round(finding.strength, 6), 0)
        clear *= 1 - detector.weight * strength
        for agent in np.flatnonzero(detector.weight * strength >= FLAG_SHARE).tolist():
            evidence.setdefault(agent, {})[detector.flag] = {
                "strength": float(strength[agent]),
                "weight": detector.weight,
                "signs": {sign.name: sign.describe(agent) for sign in finding.signs},
                **finding.describe(agent),
            }
        # What it keeps for its evidence is large, and the next detector needs the room.
        del finding
    confidence = np.round(1 - clear, 6)
    accused = (confidence >= ACCUSED).tolist()
    return Found(confidence, [tuple(evidence[one]) if accused[one] else () for one in range(audience.agents)], evidence)


def heed(found: Found, earlier: Mapping[int, Doubt]) -> Found:
    """What was found, or what the ranking of a longer interval did, of each agent whichever is more.

    What the earlier one's flags were raised by stands there.
    """
    confidence, flags, evidence = found.confidence.copy(), list(found.flags), dict(found.evidence)
    for agent, doubt in earlier.items():
        if doubt.confidence <= confidence[agent]:
            continue
        confidence[agent] = doubt.confidence
        flags[agent] = _together(flags[agent], doubt)
        told = {"confidence": doubt.confidence, "at": doubt.computed_at, "flags": list(doubt.flags)}
        evidence[agent] = evidence.get(agent, {}) | {EARLIER: told}
    return Found(confidence, flags, evidence)


def _together(flags: tuple[str, ...], doubt: Doubt) -> tuple[str, ...]:
    """Flags of both, in the order of detectors; none while the agent is not accused."""
    raised = {*flags, *doubt.flags} if doubt.confidence >= ACCUSED else set()
    return tuple(detector.flag for detector in DETECTORS if detector.flag in raised)
