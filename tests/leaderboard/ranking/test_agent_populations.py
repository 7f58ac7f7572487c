"""Populations of `benchmarks.leaderboard.agent_populations`: they are what the tables of facts could hold."""

import numpy as np
import pytest

from benchmarks.leaderboard.agent_populations import populate

WEEK = 604_800


@pytest.fixture(scope="module")
def population():
    return populate(seed=1, agents=400)


def test_a_population_is_the_same_for_the_same_seed_and_another_for_another(population):
    again, other = populate(seed=1, agents=400), populate(seed=2, agents=400)
    assert again.kinds == population.kinds and other.kinds != population.kinds
    for mine, its in zip(
        vars(population.facts.interactions).values(), vars(again.facts.interactions).values(), strict=True
    ):
        assert np.array_equal(mine, its)


def test_eight_in_a_hundred_are_planted(population):
    assert population.planted.sum() == 32
    assert len(population.kinds) == population.planted.size == population.facts.agents.ids.size == 400


def test_all_facts_lie_in_the_interval_and_are_of_agents_that_there_are(population):
    facts = population.facts
    for times, agent in (
        (facts.runs.finished_at, facts.runs.agent),
        (facts.actions.at, facts.actions.agent),
        (facts.interactions.at, facts.interactions.agent),
    ):
        assert times.min() > facts.computed_at - WEEK and times.max() <= facts.computed_at
        assert agent.min() >= 0 and agent.max() < 400 and agent.dtype == np.int32


def test_no_account_likes_or_recasts_a_cast_twice_and_no_agent_takes_itself_up(population):
    interactions = population.facts.interactions
    marks = interactions.kind <= 2
    triples = np.stack([interactions.cast[marks], interactions.actor[marks], interactions.kind[marks]])
    assert np.unique(triples, axis=1).shape == triples.shape
    assert not (interactions.actor == population.facts.agents.fids[interactions.agent]).any()


def test_accounts_are_sorted_and_known_by_a_score_or_a_registration_before_the_end(population):
    accounts = population.facts.accounts
    assert (np.diff(accounts.fids) > 0).all()
    assert (~np.isnan(accounts.scores) | (accounts.registered_at != 0)).all()
    known = accounts.scores[~np.isnan(accounts.scores)]
    assert known.min() >= 0 and known.max() <= 1
    assert accounts.registered_at.max() <= population.facts.computed_at


def test_stealth_changes_whose_the_interactions_are_and_hardly_how_many_there_are():
    counts = []
    for stealth in (0.0, 0.85):
        population = populate(seed=3, agents=400, stealth=stealth)
        interactions = np.bincount(population.facts.interactions.agent, minlength=400)
        counts.append(interactions[population.planted].sum())
    assert counts[0] == pytest.approx(counts[1], rel=0.25)
