"""Baselines of wash detection: agents that one key invents don't change them for agents of other keys."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.leaderboard.agent_populations import populate
from leaderboard.facts.columns import IntervalFacts
from leaderboard.ranking.scoring import score_agents
from leaderboard.wash.reporters import medians_by_reporter
from tests.leaderboard.ranking.test_fake_audiences import FIRST_FID, liked, made_up, newcomer
from tests.rows.wash_scenes import town

RIVAL, INVENTOR = 7, 9
DAY = 86_400


def invented(
    facts: IntervalFacts, *, agents: int, each: int, delay: int | None = None, times: int = 1
) -> IntervalFacts:
    """Add so many agents of one cast, with so many accounts each that are far from any other and like it."""
    for number in range(agents):
        facts, agent = newcomer(facts, casts=1)
        fids = FIRST_FID + 1_000 * (number * each + np.arange(each))
        facts = liked(facts, agent, np.repeat(fids, times), delay=delay)
    return facts


def judged_as_reported_by(facts: IntervalFacts, *, strangers: int):
    """Return the judgements where the last agents have another reporter, and where all have the same."""
    reporters = np.repeat([RIVAL, INVENTOR], [len(facts.agents.ids) - strangers, strangers])
    return score_agents(replace(facts, reporters=reporters)), score_agents(
        replace(facts, reporters=np.full(reporters.size, RIVAL))
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_late_crowds_of_invented_agents_make_no_other_audience_look_quick(seed):
    population = populate(seed=seed, agents=100)
    honest = np.flatnonzero(~population.planted)
    before = (score_agents(population.facts).wash_confidence[honest] >= 0.5).sum()
    apart, together = judged_as_reported_by(
        invented(population.facts, agents=100, each=100, delay=5 * DAY), strangers=100
    )
    assert (together.wash_confidence[honest] >= 0.5).sum() > before + 20
    assert (apart.wash_confidence[honest] >= 0.5).sum() <= before


@pytest.mark.parametrize("seed", [1, 2])
def test_quick_crowds_of_invented_agents_hardly_hide_their_reporters_farms(seed):
    """Check that a reporter sets what is usual among its own agents, but not that people respond within a second."""
    population = populate(seed=seed, agents=200)
    planted = np.flatnonzero(population.planted)
    facts = invented(population.facts, agents=50, each=100, delay=1)
    reporters = np.append(np.where(population.planted, INVENTOR, RIVAL), np.full(50, INVENTOR))
    found = score_agents(replace(facts, reporters=reporters)).wash_confidence[planted]
    assert (found >= 0.5).sum() >= (score_agents(population.facts).wash_confidence[planted] >= 0.5).sum() - 1


def test_accounts_far_away_make_no_batch_of_a_community_that_registered_side_by_side():
    facts, neighbour = newcomer(town().facts(), casts=1)
    people = made_up(20_000)[::2] - 1_000_000
    facts, rival = newcomer(liked(facts, neighbour, people), casts=20)
    fans = np.random.default_rng(3).choice(people, 400, replace=False)
    facts = liked(facts, rival, np.repeat(fans, 2), casts=20)
    apart, together = judged_as_reported_by(invented(facts, agents=2, each=100_000), strangers=2)
    assert "batch" in together.evidence[rival]["LOW_SCORE_AUDIENCE"]["signs"]
    assert together.wash_confidence[rival] >= 0.5
    assert "LOW_SCORE_AUDIENCE" not in apart.evidence.get(rival, {})
    assert apart.wash_confidence[rival] < 0.1


def test_accounts_that_come_back_elsewhere_make_no_ring_of_agents_with_one_public():
    facts, random = town().facts(), np.random.default_rng(4)
    public = made_up(400) - 1_000_000
    rivals = []
    for _ in range(2):
        facts, rival = newcomer(facts, casts=20)
        facts = liked(facts, rival, np.repeat(random.choice(public, 200, replace=False), 3), casts=20)
        rivals.append(rival)
    apart, together = judged_as_reported_by(invented(facts, agents=2, each=50_000, times=2), strangers=2)
    for rival in rivals:
        assert together.evidence[rival]["RECIPROCAL_RING"]["strength"] > 0.5
        assert "RECIPROCAL_RING" not in apart.evidence.get(rival, {})


@pytest.mark.parametrize("seed", [3, 4])
def test_where_one_key_reports_all_agents_it_does_not_matter_which(seed):
    facts = populate(seed=seed, agents=200).facts
    named = score_agents(replace(facts, reporters=np.full(200, RIVAL)))
    assert score_agents(facts).composite.tolist() == named.composite.tolist()


def test_a_median_is_one_of_the_values_and_none_is_returned_without_any():
    values, reporters = np.array([5, 1, 9, 4, 3, 0], np.int32), np.array([0, 0, 0, 2, 2, 3], np.int32)
    assert medians_by_reporter(values, reporters, number=5).tolist() == [5, -1, 3, 0, -1]
    assert medians_by_reporter(values[:0], reporters[:0], number=2).tolist() == [-1, -1]
