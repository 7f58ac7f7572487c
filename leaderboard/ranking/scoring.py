"""Scoring of agents and their wash confidence. Pure: the same facts give the same scores.

docs/leaderboard.md explains each formula. Any change of the results must raise VERSION.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.facts.audiences import build_audience
from leaderboard.facts.columns import BoolArray, Float64Array, Int32Array, IntervalFacts
from leaderboard.ranking import score_components, tallies, unknown_accounts
from leaderboard.ranking.tallies import Tallies
from leaderboard.ranking.unknown_accounts import UnknownShare
from leaderboard.wash import detectors
from leaderboard.wash.accusation import INSUFFICIENT_DATA
from leaderboard.wash.detectors import WashResult
from leaderboard.wash.findings import Evidence

VERSION = 4
# Agents with fewer interactions are not checked for wash.
MIN_INTERACTIONS = 15
# Scores are rounded, so that no ranking depends on the last bit of a sum.
DECIMALS = 6


@dataclass(frozen=True)
class AgentScores:
    """Scores with one entry per agent, in the order of `Agents`.

    Only unknown creator scores are NaN; nothing is infinite.
    """

    tallies: Tallies
    # 0 to 100.
    composite: Float64Array
    # Name -> 0 to 1.
    components: Mapping[str, Float64Array]
    # 0 to 1; NaN where unknown.
    creator_scores: Float64Array
    # 0 to 1; from 0.5 on an agent is accused, and has flags.
    wash_confidence: Float64Array
    # In the order of `detectors.DETECTORS`.
    flags: Sequence[tuple[str, ...]]
    # Agent's index -> flag -> JSON-serialisable evidence; includes detectors that fired below the threshold.
    evidence: Mapping[int, Evidence]


def score_agents(facts: IntervalFacts, *, excluded_flags: Collection[str] = ()) -> AgentScores:
    """Score all agents of `facts`; the detectors of `excluded_flags` are skipped."""
    tally = tallies.tally_facts(facts)
    audience = build_audience(facts)
    parts = {
        name: np.round(part, DECIMALS)
        for name, part in score_components.measure_components(facts, tally, audience).items()
    }
    sufficient = tally.interactions >= MIN_INTERACTIONS
    unknown = unknown_accounts.measure_unknown_share(audience)
    audience = unknown_accounts.without_unknown_majority(audience, unknown, least=MIN_INTERACTIONS)
    result = detectors.apply_prior(
        detectors.run_detectors(facts, audience, eligible=sufficient, excluded_flags=excluded_flags), facts.prior
    )
    flags, evidence = _with_insufficient_data(result, sufficient, unknown)
    return AgentScores(
        tallies=tally,
        composite=composite_score(parts, result.confidence),
        components=parts,
        creator_scores=score_components.creator_scores(facts),
        wash_confidence=result.confidence,
        flags=flags,
        evidence=evidence,
    )


def composite_score(parts: Mapping[str, Float64Array], wash_confidence: Float64Array) -> Float64Array:
    """Return the composite from 0 to 100: the weighted sum of the components, times 1 - wash confidence."""
    merit = np.zeros(len(wash_confidence))
    for component in score_components.COMPONENTS:
        merit += component.weight * parts[component.name]
    return np.round(100 * merit * (1 - wash_confidence), DECIMALS)


def best_first(scores: AgentScores) -> Int32Array:
    """Return agents' indices sorted by composite, best first; ties by reach, then by lower id."""
    reach = scores.components[score_components.REACH.name]
    return np.lexsort((-reach, -scores.composite)).astype(np.int32)


def _with_insufficient_data(
    result: WashResult, sufficient: BoolArray, unknown: UnknownShare
) -> tuple[list[tuple[str, ...]], dict[int, Evidence]]:
    """Add the flag INSUFFICIENT_DATA and its evidence to agents with too little data, unless they are accused."""
    flags, evidence = list(result.flags), dict(result.evidence)
    for agent in np.flatnonzero(~sufficient | unknown.is_majority).tolist():
        if not flags[agent]:
            flags[agent] = (INSUFFICIENT_DATA,)
            if sufficient[agent]:
                evidence[agent] = evidence.get(agent, {}) | {INSUFFICIENT_DATA: unknown.describe(agent)}
    return flags, evidence
