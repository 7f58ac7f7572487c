"""Agent scoring. Pure: the same facts give the same scores.

docs/leaderboard.md explains each formula. Any change to the results must raise VERSION.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leaderboard.facts.audiences import build_audience
from leaderboard.facts.columns import Float64Array, Int32Array, IntervalFacts
from leaderboard.ranking import responses, score_components, tallies
from leaderboard.ranking.audience_weight import AudienceWeight, weigh_audience
from leaderboard.ranking.score_components import AUDIENCE, OWN_WORD
from leaderboard.ranking.tallies import Tallies

VERSION = 8
# Composite share that the agent's own word decides, beside its audience.
OWN_WORD_SHARE = 0.25
# Scores are rounded, so that no ranking depends on a sum's last bit.
DECIMALS = 6

# Flag -> evidence.
Evidence = dict[str, responses.DiscountEvidence]


@dataclass(frozen=True)
class AgentScores:
    """Scores with one entry per agent, sorted as `Agents`.

    Only unknown creator scores are NaN; nothing is infinite.
    """

    tallies: Tallies
    # 0 to 100.
    composite: Float64Array
    # Name -> 0 to 1.
    components: Mapping[str, Float64Array]
    # 0 to 1; NaN if unknown.
    creator_scores: Float64Array
    # Audience weight share that is not counted, 0 to 1.
    discounted: Float64Array
    # Sorted as `discounts.DISCOUNTS`.
    flags: Sequence[tuple[str, ...]]
    # Agent's index -> its flags' evidence.
    evidence: Mapping[int, Evidence]
    # Agent's index -> its audience's figures; absent without accounts.
    audiences: Mapping[int, responses.AudienceShape]


def score_agents(facts: IntervalFacts, *, without: Collection[str] = ()) -> AgentScores:
    """Score all agents; discounts whose flags are in `without` are left out."""
    tally = tallies.tally_facts(facts)
    weight = weigh_audience(facts, build_audience(facts), without=without)
    components = {
        name: np.round(values, DECIMALS)
        for name, values in score_components.measure_components(facts, tally, weight.counted).items()
    }
    flags, evidence = _explain(weight)
    return AgentScores(
        tallies=tally,
        composite=composite_score(components),
        components=components,
        creator_scores=score_components.creator_scores(facts),
        discounted=np.round(weight.discounted_share, DECIMALS),
        flags=flags,
        evidence=evidence,
        audiences=weight.figures(),
    )


def composite_score(parts: Mapping[str, Float64Array]) -> Float64Array:
    """Return the composite, 0 to 100: the audience component, less up to OWN_WORD_SHARE for a low own word."""
    return np.round(100 * parts[AUDIENCE] * (1 - OWN_WORD_SHARE + OWN_WORD_SHARE * _own_word(parts)), DECIMALS)


def best_first(scores: AgentScores) -> Int32Array:
    """Return agents' indices sorted by composite, best first; ties by their own word, then by lower id."""
    return np.lexsort((-_own_word(scores.components), -scores.composite)).astype(np.int32)


def _own_word(parts: Mapping[str, Float64Array]) -> Float64Array:
    word: Float64Array = np.mean([parts[name] for name in OWN_WORD], axis=0)
    return word


def _explain(weight: AudienceWeight) -> tuple[list[tuple[str, ...]], dict[int, Evidence]]:
    """Return each agent's flags, and flagged agents' evidence."""
    flags: list[tuple[str, ...]] = [()] * weight.audience.agents
    evidence: dict[int, Evidence] = {}
    for discounted, is_flagged in weight.flagged():
        for agent in np.flatnonzero(is_flagged).tolist():
            flags[agent] += (discounted.discount.flag,)
            evidence.setdefault(agent, {})[discounted.discount.flag] = weight.describe(discounted, agent)
    return flags, evidence
