"""From facts to a score for each agent, and to the doubt that wash activity won it. Pure: same facts, same score.

docs/leaderboard.md tells each formula and why it is so. Whoever changes what comes out raises VERSION.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.facts.audiences import gather
from leaderboard.facts.columns import Facts, Index, Real, Truth
from leaderboard.ranking import score_components as components
from leaderboard.ranking import tallies, unknown_accounts
from leaderboard.ranking.tallies import Tallies
from leaderboard.ranking.unknown_accounts import Unknown
from leaderboard.wash import detectors
from leaderboard.wash.detectors import Found
from leaderboard.wash.findings import Evidence

VERSION = 4
INSUFFICIENT_DATA = "INSUFFICIENT_DATA"
# An agent with fewer interactions is not judged.
MIN_INTERACTIONS = 15
# Scores are rounded to it, so that no order hangs on the last bit of a sum.
DECIMALS = 6


@dataclass(frozen=True)
class Judgement:
    """One entry per agent, in the order of `Agents`. Unknown creator scores alone are NaN; nothing is infinite."""

    tallies: Tallies
    # 0 to 100.
    composite: Real
    # Name -> 0 to 1.
    components: Mapping[str, Real]
    # 0 to 1; NaN where unknown.
    creator_scores: Real
    # 0 to 1; from 0.5 on an agent is accused, and has flags.
    wash_confidence: Real
    # In the order of `detectors.DETECTORS`.
    flags: Sequence[tuple[str, ...]]
    # Agent's index -> flag -> what it was found by, JSON-able; also of detectors that saw something in the unflagged.
    evidence: Mapping[int, Evidence]


def judge(facts: Facts, *, without: Collection[str] = ()) -> Judgement:
    """Scores all agents of `facts`; `without` names flags whose detectors are left out."""
    counted = tallies.tally(facts)
    audience = gather(facts)
    parts = {name: np.round(part, DECIMALS) for name, part in components.measure(facts, counted, audience).items()}
    enough = counted.interactions >= MIN_INTERACTIONS
    doubtful = unknown_accounts.find(audience)
    audience = unknown_accounts.uncovered(audience, doubtful, least=MIN_INTERACTIONS)
    found = detectors.heed(detectors.detect(facts, audience, judged=enough, without=without), facts.earlier)
    flags, evidence = _with_insufficient(found, enough, doubtful)
    return Judgement(
        tallies=counted,
        composite=compose(parts, found.confidence),
        components=parts,
        creator_scores=components.creator_scores(facts),
        wash_confidence=found.confidence,
        flags=flags,
        evidence=evidence,
    )


def compose(parts: Mapping[str, Real], wash_confidence: Real) -> Real:
    """The composite from 0 to 100: the weighted sum of the components, times 1 - wash confidence."""
    merit = np.zeros(len(wash_confidence))
    for weighted in components.COMPONENTS:
        merit += weighted.weight * parts[weighted.name]
    return np.round(100 * merit * (1 - wash_confidence), DECIMALS)


def ranking(judgement: Judgement) -> Index:
    """Indices of agents, best first. Of equals, the one of more reach leads, then the one of the lower id."""
    reach = judgement.components[components.REACH.name]
    return np.lexsort((-reach, -judgement.composite)).astype(np.int32)


def _with_insufficient(
    found: Found, enough: Truth, unknown: Unknown
) -> tuple[list[tuple[str, ...]], dict[int, Evidence]]:
    """The flags and the evidence, with those of agents of whom too little is known, unless they are accused."""
    flags, evidence = list(found.flags), dict(found.evidence)
    for agent in np.flatnonzero(~enough | unknown.are_most).tolist():
        if not flags[agent]:
            flags[agent] = (INSUFFICIENT_DATA,)
            if enough[agent]:
                evidence[agent] = evidence.get(agent, {}) | {INSUFFICIENT_DATA: unknown.describe(agent)}
    return flags, evidence
