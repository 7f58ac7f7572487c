"""Wash detectors, and the confidence that they give together."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import BoolArray, Float64Array, IntervalFacts, PriorFinding
from leaderboard.wash import concentration, copied_texts, low_scores, rings, self_trades, timing
from leaderboard.wash.accusation import ACCUSED, FLAG_SHARE
from leaderboard.wash.findings import Evidence, Finding

# Key of the evidence from a longer interval's ranking; not a flag.
EARLIER = "EARLIER"


@dataclass(frozen=True)
class Detector:
    """Detector: its flag, its function, and the confidence that its full strength gives on its own."""

    flag: str
    detect: Callable[[IntervalFacts, Audience], Finding]
    weight: float


DETECTORS = tuple(
    Detector(module.FLAG, module.detect, module.WEIGHT)
    for module in (concentration, rings, timing, low_scores, copied_texts, self_trades)
)


@dataclass(frozen=True)
class WashResult:
    """Result with one entry per agent; evidence of each detector that may raise its flag, accused or not."""

    confidence: Float64Array
    flags: Sequence[tuple[str, ...]]
    evidence: dict[int, Evidence]


def run_detectors(
    facts: IntervalFacts, audience: Audience, *, eligible: BoolArray, excluded_flags: Collection[str]
) -> WashResult:
    """Run all detectors and combine their findings: 1 - product of (1 - weight x strength)."""
    not_wash = np.ones(audience.agents)
    evidence: dict[int, Evidence] = {}
    for detector in DETECTORS:
        if detector.flag in excluded_flags:
            continue
        finding = detector.detect(facts, audience)
        strength = np.where(eligible, np.round(finding.strength, 6), 0)
        not_wash *= 1 - detector.weight * strength
        for agent in np.flatnonzero(detector.weight * strength >= FLAG_SHARE).tolist():
            evidence.setdefault(agent, {})[detector.flag] = {
                "strength": float(strength[agent]),
                "weight": detector.weight,
                "signs": {sign.name: sign.describe(agent) for sign in finding.signs},
                **finding.describe(agent),
            }
        # A finding holds large arrays for its evidence; free them before the next detector.
        del finding
    confidence = np.round(1 - not_wash, 6)
    accused = (confidence >= ACCUSED).tolist()
    return WashResult(
        confidence, [tuple(evidence[agent]) if accused[agent] else () for agent in range(audience.agents)], evidence
    )


def apply_prior(result: WashResult, prior: Mapping[int, PriorFinding]) -> WashResult:
    """Keep, per agent, the higher wash confidence of this interval and the longer one.

    The evidence for the flags of the longer interval is in that ranking.
    """
    confidence, flags, evidence = result.confidence.copy(), list(result.flags), dict(result.evidence)
    for agent, finding in prior.items():
        if finding.confidence <= confidence[agent]:
            continue
        confidence[agent] = finding.confidence
        flags[agent] = _merge_flags(flags[agent], finding)
        prior_evidence = {"confidence": finding.confidence, "at": finding.computed_at, "flags": list(finding.flags)}
        evidence[agent] = evidence.get(agent, {}) | {EARLIER: prior_evidence}
    return WashResult(confidence, flags, evidence)


def _merge_flags(flags: tuple[str, ...], finding: PriorFinding) -> tuple[str, ...]:
    """Merge both sets of flags in the order of detectors; none while the agent is not accused."""
    raised = {*flags, *finding.flags} if finding.confidence >= ACCUSED else set()
    return tuple(detector.flag for detector in DETECTORS if detector.flag in raised)
