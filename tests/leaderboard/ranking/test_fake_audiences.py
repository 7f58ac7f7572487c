"""Fake audiences: accounts without a social score, as many as a reporter likes to name."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.leaderboard.agent_populations import populate
from leaderboard.facts.audiences import build_audience
from leaderboard.facts.columns import Accounts, Actions, Agents, Int64Array, Interactions, IntervalFacts
from leaderboard.ranking import unknown_accounts
from leaderboard.ranking.scoring import best_first, score_agents
from tests.rows.agent_scenes import LIKE

MANY = 300_000
# Beyond all accounts of the population.
FIRST_FID = 50_000_000
INSUFFICIENT = ("INSUFFICIENT_DATA",)


@pytest.fixture(scope="module", params=[11, pytest.param(12, marks=pytest.mark.slow)])
def population(request):
    return populate(seed=request.param, agents=600)


def made_up(count: int) -> Int64Array:
    return FIRST_FID + np.arange(count)


def known_people(facts: IntervalFacts, count: int) -> Int64Array:
    """Return accounts of the population with a score, one as likely as another."""
    fids = facts.accounts.fids[~np.isnan(facts.accounts.scores)]
    return np.random.default_rng(1).choice(fids, count, replace=False)


def newcomer(facts: IntervalFacts, *, casts: int) -> tuple[IntervalFacts, int]:
    """Add one more agent without a run; return the facts and its index."""
    agents, actions = facts.agents, facts.actions
    last = int(agents.ids[-1])
    at = facts.computed_at - np.linspace(facts.seconds - 3600, facts.seconds // 2, casts).astype(np.int64)
    return (
        replace(
            facts,
            agents=Agents(*(np.append(*pair) for pair in zip(vars(agents).values(), (last + 1, 0, 0), strict=True))),
            actions=Actions(
                np.append(actions.agent, np.full(casts, len(agents.ids), np.int32)),
                np.append(actions.at, at),
                np.append(actions.kind, np.ones(casts, np.int8)),
                np.append(actions.cast, 1 + np.arange(casts)),
                np.append(actions.text, np.zeros(casts, np.int64)),
            ),
        ),
        len(agents.ids),
    )


def liked(
    facts: IntervalFacts, agent: int, fids: Int64Array, *, casts: int = 1, delay: int | None = None
) -> IntervalFacts:
    """Add a like of one of the agent's casts by each of these accounts, at any later time or after so many seconds."""
    random, likes = np.random.default_rng(2), facts.interactions
    cast = 1 + random.integers(0, casts, fids.size)
    at = facts.computed_at - random.integers(0, facts.seconds // 2, fids.size)
    if delay is not None:
        at = facts.computed_at - (facts.seconds - 3600) + delay + 0 * at
    added = (np.full(fids.size, agent, np.int32), at, np.full(fids.size, LIKE, np.int8), fids, cast, 0 * fids)
    columns = zip(vars(likes).values(), added, strict=True)
    return replace(facts, interactions=Interactions(*(np.concatenate(pair) for pair in columns)))


def scored(facts: IntervalFacts, fids: Int64Array, score: float) -> IntervalFacts:
    """Set the score of these accounts."""
    known = facts.accounts
    columns = zip(vars(known).values(), (fids, np.full(fids.size, score), np.zeros(fids.size, np.int64)), strict=True)
    return replace(facts, accounts=Accounts(*(np.concatenate(pair) for pair in columns)))


@pytest.mark.parametrize("casts", [0, 1, 20])
@pytest.mark.parametrize("count", [1_000, MANY])
def test_a_crowd_that_is_made_up_gives_an_agent_next_to_nothing(population, count, casts):
    """Check casts outside of the interval: likes of unknown casts are not counted."""
    facts, agent = newcomer(population.facts, casts=casts)
    alone = score_agents(facts).composite[agent]
    judgement = score_agents(liked(facts, agent, made_up(count), casts=max(casts, 1)))
    assert judgement.composite[agent] - alone < 12
    assert judgement.components["reach"][agent] < np.median(judgement.components["reach"])
    # Only agents that did nothing at all are behind it.
    assert np.mean(judgement.composite < judgement.composite[agent]) < 0.1
    assert judgement.flags[agent] == INSUFFICIENT


def test_a_larger_crowd_that_is_made_up_gives_hardly_more(population):
    facts, agent = newcomer(population.facts, casts=5)
    few, many = (score_agents(liked(facts, agent, made_up(count), casts=5)).composite[agent] for count in (1_000, MANY))
    assert few <= many < few + 1.5


def test_agents_with_little_known_are_named_by_numbers(population):
    facts, agent = newcomer(population.facts, casts=5)
    judgement = score_agents(liked(facts, agent, made_up(1_000)))
    found = judgement.evidence[agent]["INSUFFICIENT_DATA"]
    assert found == {"interactions": 1_000, "fromUnknownAccounts": 1_000, "most": 0.6667, "doubt": 5}
    assert found["fromUnknownAccounts"] > found["most"] * (found["interactions"] + found["doubt"])


def test_a_crowd_of_score_zero_gives_nothing_at_all(population):
    facts, agent = newcomer(population.facts, casts=5)
    alone = score_agents(facts).composite[agent]
    fids = made_up(MANY)
    judgement = score_agents(scored(liked(facts, agent, fids, casts=5), fids, 0.0))
    assert judgement.components["reach"][agent] == judgement.components["engagement"][agent] == 0
    assert judgement.composite[agent] < alone
    assert "low" in judgement.evidence[agent]["LOW_SCORE_AUDIENCE"]["signs"]


def test_beside_an_organic_audience_what_is_made_up_counts_half_as_much_at_the_most(population):
    facts, agent = newcomer(population.facts, casts=20)
    facts = liked(facts, agent, known_people(facts, 300), casts=20)
    organic, half, nearly_all = (
        score_agents(liked(facts, agent, made_up(count), casts=20) if count else facts) for count in (0, 300, MANY)
    )
    assert organic.composite[agent] <= half.composite[agent] <= nearly_all.composite[agent]
    assert nearly_all.composite[agent] - organic.composite[agent] < 5
    assert half.flags[agent] == organic.flags[agent] == ()
    assert nearly_all.flags[agent] == INSUFFICIENT


@pytest.mark.parametrize("times", [1, 3, 30])
def test_wash_does_not_drown_in_a_crowd_that_is_made_up(population, times):
    """Check that each planted agent liked by so many times as many unknown accounts is still found."""
    before = score_agents(population.facts)
    facts, planted = population.facts, np.flatnonzero(population.planted)
    for agent in planted.tolist():
        fids = made_up(int(before.tallies.interactions[agent]) * times) + agent * MANY
        facts = liked(facts, agent, fids, casts=30)
    after = score_agents(facts)
    found = [(judgement.wash_confidence[planted] >= 0.5).sum() for judgement in (before, after)]
    assert found[1] >= found[0] - 1
    assert not population.planted[best_first(after)[:25]].any()


@pytest.mark.parametrize("score", [None, 0.9])
@pytest.mark.parametrize("delay", [1, 300_000])
def test_no_crowd_sets_the_pace_by_which_others_are_found_quick(population, delay, score):
    """Check the usual delay: a slow one makes people look like programs, a quick one farms like people."""
    before = score_agents(population.facts)
    facts, agent = newcomer(population.facts, casts=1)
    facts = liked(facts, agent, made_up(MANY), delay=delay)
    if score is not None:
        facts = scored(facts, made_up(MANY), score)
    after = score_agents(facts).wash_confidence[:agent]
    assert (after >= 0.5).sum() == pytest.approx((before.wash_confidence >= 0.5).sum(), abs=1)


def rank_correlation(left, right):
    """Return Spearman's coefficient. Not scipy.stats, which takes a second to import."""
    return np.corrcoef(left.argsort().argsort(), right.argsort().argsort())[0, 1]


def test_where_no_score_is_known_agents_are_ranked_by_their_audience_all_the_same(population):
    """Check that unknown accounts accuse no agent, wash is found by the other signs, and a fake crowd has no effect."""
    facts = population.facts
    known = score_agents(facts)
    blind = replace(facts, accounts=replace(facts.accounts, scores=np.full(facts.accounts.fids.size, np.nan)))
    judgement, honest = score_agents(blind), ~population.planted
    reach, interactions = judgement.components["reach"][honest], judgement.tallies.interactions[honest]
    assert rank_correlation(reach, interactions) > 0.95
    assert rank_correlation(judgement.composite[honest], known.composite[honest]) > 0.6
    assert (judgement.wash_confidence[honest] >= 0.5).mean() < 0.01
    assert (judgement.wash_confidence[population.planted] >= 0.5).mean() > 0.9
    crowded, agent = newcomer(blind, casts=5)
    composite = score_agents(liked(crowded, agent, made_up(MANY), casts=5)).composite
    assert np.mean(composite < composite[agent]) < 0.1


def test_an_audience_without_some_is_as_if_they_had_never_come(population):
    facts = population.facts
    whole = build_audience(facts)
    dropped = whole.is_unknown & (whole.pair_agent % 3 == 0)
    gone = set(zip(whole.pair_agent[dropped].tolist(), whole.fids[whole.pair_actor[dropped]].tolist(), strict=True))
    likes = facts.interactions
    rows = zip(likes.agent.tolist(), likes.actor.tolist(), strict=True)
    stays = np.array([pair not in gone for pair in rows])
    other = build_audience(
        replace(facts, interactions=Interactions(*(values[stays] for values in vars(likes).values())))
    )
    for name, values in vars(whole.without(dropped)).items():
        expected = getattr(other, name)
        if name == "rows":
            # They have other numbers where some are left out, and those of one second no order.
            values, expected = likes.at[values], likes.at[np.flatnonzero(stays)[expected]]
        np.testing.assert_array_equal(values, expected)


@settings(max_examples=300)
@given(
    known=st.floats(0, 1e5),
    unknown=st.floats(0, 1e6),
    more=st.floats(0, 1e5),
)
def test_more_of_the_known_or_of_the_unknown_never_counts_less(known, unknown, more):
    def count(one: float, other: float) -> float:
        return float(unknown_accounts.bounded_sum(np.array([one]), np.array([other]))[0])

    slack = 1e-9 * (1 + known + unknown + more)
    assert count(known, unknown) <= count(known + more, unknown) + slack
    assert count(known, unknown) <= count(known, unknown + more) + slack
    # An account with a known score counts for no less than an equal one without.
    assert count(known, unknown + more) <= count(known + more, unknown) + slack
    assert known <= count(known, unknown) <= 1.5 * known + unknown_accounts.UNKNOWN_ALLOWANCE
