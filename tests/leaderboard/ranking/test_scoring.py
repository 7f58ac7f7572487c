"""The score of agents (leaderboard/ranking/scoring.py): its components are monotonic, and depend on facts only."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.models import ActionKind
from leaderboard.ranking import score_components, scoring, tallies
from leaderboard.ranking.scoring import AgentScores, score_agents
from tests.rows.ranking_scenes import DAY, NOW, WEEK, RankingScene, town

QUICK = settings(max_examples=25)


def every_number(scores: AgentScores) -> np.ndarray:
    return np.concatenate(
        [scores.composite, scores.discounted, *scores.components.values()]
        + [values.astype(float) for values in vars(scores.tallies).values()]
    )


def small_world(seed: int) -> RankingScene:
    """Draw some agents with any facts: runs, casts, fans, accounts without a score, and unconfirmed interactions."""
    scene = town(seed)
    random = scene.random
    for number in range(3):
        agent = scene.agent(fid=60_000_000 + number, creator=100_000 + number, reporter=int(random.integers(0, 4)))
        for _ in range(int(random.integers(0, 20))):
            scene.runs.append((agent, int(random.integers(0, WEEK)), bool(random.random() < 0.8)))
        for fan in range(int(random.integers(0, 25))):
            scene.like(agent, scene.person(70_000_000 + fan), times=int(random.integers(1, 6)))
        for fan in range(int(random.integers(0, 60))):
            scene.like(agent, 80_000_000 + 31 * fan, is_confirmed=bool(random.random() < 0.5))
        for fan in range(int(random.integers(0, 30))):
            scene.like(agent, 10_000 + fan, is_confirmed=bool(random.random() < 0.7))
    return scene


def same(one: AgentScores, other: AgentScores) -> bool:
    return (
        np.array_equal(every_number(one), every_number(other))
        and list(one.flags) == list(other.flags)
        and json.dumps(one.evidence, sort_keys=True) == json.dumps(other.evidence, sort_keys=True)
    )


def test_without_agents_there_is_nothing():
    scores = score_agents(RankingScene().facts())
    assert len(scores.composite) == 0 and scores.flags == [] and scores.evidence == {}


def test_kinds_are_numbered_as_the_tables_do():
    assert (tallies.POST, tallies.REPLY, tallies.QUOTE) == (ActionKind.POST, ActionKind.REPLY, ActionKind.QUOTE)


def test_tallies_count_each_agent_s_own():
    scene = town()
    agent = scene.agent(fid=5, casts=4)
    scene.runs += [(agent, 50, True), (agent, 40, True), (agent, 30, False), (0, 20, True)]
    scene.like(agent, scene.person(77), times=3)
    scene.like(agent, 5, times=2)
    counted = tallies.tally_facts(scene.facts())
    assert (counted.runs_succeeded[agent], counted.runs_failed[agent]) == (2, 1)
    assert (counted.posts[agent], counted.replies[agent], counted.casts[agent]) == (4, 0, 4)
    assert counted.interactions[agent] == 5
    assert counted.last_active_at[agent] == NOW - 30


@pytest.mark.parametrize(
    ("succeeded", "failed", "expected"),
    # R: binom::binom.wilson(10, 10)$lower, (90, 100), (0, 5).
    [(10, 0, 0.7225), (90, 10, 0.8256), (0, 5, 0.0), (0, 0, 0.0)],
)
def test_reliability_is_the_lower_end_of_wilson_s_interval(succeeded, failed, expected):
    found = score_components.reliability(np.array([succeeded]), np.array([failed]))
    assert found[0] == pytest.approx(expected, abs=1e-3)


def test_the_example_of_the_guide():
    scene = RankingScene()
    other = scene.agent()
    agent = scene.agent(creator=scene.person(1, score=0.9), casts=28)
    for fid in scene.crowd(agent, 20, first_fid=100, score=0.8):
        scene.like(other, fid)
    scene.crowd(agent, 30, first_fid=500, score=0.5, times=3)
    scene.runs += [(agent, 3_600 * number, True) for number in range(30)]
    scores = score_agents(scene.facts())
    assert scores.composite[agent] == pytest.approx(14.88, abs=0.005)
    assert scores.flags[agent] == ("NARROW",)


def test_own_word_without_an_audience_is_nothing():
    scene = town()
    agent = scene.agent(creator=scene.person(1, score=1.0), casts=200)
    scene.runs += [(agent, 600 * number, True) for number in range(900)]
    silent = scene.agent(casts=0)
    scores = score_agents(scene.facts())
    assert scores.composite[agent] == scores.composite[silent] == 0
    # Between equals, it decides.
    assert scoring.best_first(scores).tolist()[-2:] == [agent, silent]
    assert np.isnan(scores.creator_scores[silent])


def test_own_word_decides_a_quarter():
    parts = dict.fromkeys(score_components.OWN_WORD, np.array([0.0, 1.0])) | {"audience": np.array([0.4, 0.4])}
    assert scoring.composite_score(parts).tolist() == [30.0, 40.0]


@pytest.mark.parametrize("name", [score_components.AUDIENCE, *score_components.OWN_WORD])
def test_the_composite_rises_with_each_component(name):
    low = dict.fromkeys((score_components.AUDIENCE, *score_components.OWN_WORD), np.array([0.5]))
    assert scoring.composite_score(low | {name: np.array([0.6])}) > scoring.composite_score(low)


@QUICK
@given(seed=st.integers(1, 10_000), shuffled=st.integers(1, 10_000))
def test_the_sequence_of_rows_has_no_effect(seed, shuffled):
    scene = small_world(seed)
    assert same(score_agents(scene.facts()), score_agents(scene.facts(shuffled=shuffled)))


@QUICK
@given(seed=st.integers(1, 10_000))
def test_the_sequence_of_agents_has_no_effect(seed):
    facts = small_world(seed).facts()
    turned = np.random.default_rng(seed).permutation(len(facts.agents.ids)).astype(np.int32)
    place = np.argsort(turned).astype(np.int32)
    agents = facts.agents
    # Row ids stay sorted; the agents behind them change places. Without a creator and a reporter, the id is the owner.
    other = replace(
        facts,
        agents=replace(agents, fids=agents.fids[turned], creator_fids=agents.creator_fids[turned]),
        reporters=facts.reporters[turned],
        **{
            name: replace(getattr(facts, name), agent=place[getattr(facts, name).agent])
            for name in ("runs", "actions", "interactions")
        },
    )
    one, another = score_agents(facts), score_agents(other)
    assert np.array_equal(one.composite[turned], another.composite)
    assert np.array_equal(one.discounted[turned], another.discounted)


@QUICK
@given(seed=st.integers(1, 10_000), more=st.integers(1, 30), succeeded=st.booleans())
def test_succeeded_runs_never_lower_the_score_and_failed_ones_never_raise_it(seed, more, succeeded):
    scene = small_world(seed)
    agent = len(scene.agents) - 1
    before = score_agents(scene.facts()).components["reliability"][agent]
    scene.runs += [(agent, 1 + number, succeeded) for number in range(more)]
    after = score_agents(scene.facts()).components["reliability"][agent]
    assert after >= before if succeeded else after <= before


@QUICK
@given(seed=st.integers(1, 10_000), more=st.integers(1, 30))
def test_casts_in_more_of_the_interval_never_lower_activity_or_consistency(seed, more):
    scene = small_world(seed)
    agent = len(scene.agents) - 1
    before = score_agents(scene.facts())
    scene.casts += [(agent, (6007 * number) % WEEK, 500_000 + number) for number in range(more)]
    after = score_agents(scene.facts())
    for name in ("activity", "consistency"):
        assert after.components[name][agent] >= before.components[name][agent]


def test_recent_presence_counts_for_more():
    scene = RankingScene()
    for ago in (0, 6 * DAY):
        agent = scene.agent(casts=0)
        scene.casts.append((agent, ago, agent + 1))
    recent, old = score_agents(scene.facts()).components["consistency"]
    assert recent > old > 0
