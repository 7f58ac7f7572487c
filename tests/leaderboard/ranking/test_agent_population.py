"""Facts of `benchmarks.leaderboard.agent_population`: they are what the tables of facts could hold."""

import numpy as np
import pytest

from benchmarks.leaderboard.agent_population import WEEK, populate


@pytest.fixture(scope="module")
def facts():
    return populate(seed=1, agents=400, seconds=WEEK)


def test_facts_are_the_same_for_the_same_seed_and_others_for_another(facts):
    same, other = (populate(seed=seed, agents=400, seconds=WEEK) for seed in (1, 2))
    for mine, its in zip(vars(facts.interactions).values(), vars(same.interactions).values(), strict=True):
        assert np.array_equal(mine, its)
    assert not np.array_equal(facts.interactions.actor, other.interactions.actor)


def test_all_facts_lie_in_the_interval_and_are_of_agents_that_there_are(facts):
    for times, agent in (
        (facts.runs.finished_at, facts.runs.agent),
        (facts.actions.at, facts.actions.agent),
        (facts.interactions.at, facts.interactions.agent),
    ):
        assert times.min() > facts.computed_at - WEEK and times.max() <= facts.computed_at
        assert agent.min() >= 0 and agent.max() < 400 and agent.dtype == np.int32


def test_no_account_likes_or_recasts_a_cast_twice(facts):
    interactions = facts.interactions
    marks = interactions.kind <= 2
    triples = np.stack([interactions.cast[marks], interactions.actor[marks], interactions.kind[marks]])
    assert np.unique(triples, axis=1).shape == triples.shape


def test_accounts_are_sorted_and_have_a_score_or_a_registration_before_the_end(facts):
    accounts = facts.accounts
    assert (np.diff(accounts.fids) > 0).all()
    scores = accounts.scores[~np.isnan(accounts.scores)]
    assert scores.min() >= 0 and scores.max() <= 1
    assert accounts.registered_at.min() > 0 and accounts.registered_at.max() <= facts.computed_at
