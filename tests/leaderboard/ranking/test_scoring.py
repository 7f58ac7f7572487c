"""The score of agents (leaderboard/ranking/scoring.py): its components are monotonic, and depend on facts only."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.facts import audiences
from leaderboard.models import ActionKind, InteractionKind
from leaderboard.ranking import score_components, scoring, tallies
from leaderboard.ranking.scoring import AgentScores, score_agents
from leaderboard.wash import links
from leaderboard.wash.detectors import DETECTORS
from tests.rows.wash_scenes import DAY, NOW, WEEK, WashScene, town

QUICK = settings(max_examples=25)
FLAGS = tuple(detector.flag for detector in DETECTORS)


def every_number(judgement: AgentScores) -> np.ndarray:
    return np.concatenate(
        [judgement.composite, judgement.wash_confidence, *judgement.components.values()]
        + [values.astype(float) for values in vars(judgement.tallies).values()]
    )


def small_world(seed: int) -> WashScene:
    """Draw some agents with any facts: runs, casts, fans, a farm, copied texts and trades."""
    scene = town(seed)
    random = scene.random
    for number in range(3):
        agent = scene.agent(fid=60_000_000 + number, creator=100_000 + number, casts=int(random.integers(0, 12)))
        for _ in range(int(random.integers(0, 20))):
            scene.runs.append((agent, int(random.integers(0, WEEK)), bool(random.random() < 0.8)))
        for fan in range(int(random.integers(0, 25)) if scene.casts[-1][0] == agent else 0):
            text = int(random.integers(0, 4))
            scene.like(agent, scene.person(70_000_000 + fan), times=int(random.integers(1, 6)), text=text)
        # Accounts without a known score.
        for fan in range(int(random.integers(0, 60)) if scene.casts[-1][0] == agent else 0):
            scene.like(agent, 80_000_000 + 31 * fan, times=int(random.integers(1, 3)))
        for trade in range(int(random.integers(0, 20))):
            is_own, is_buy = (bool(side) for side in random.integers(0, 2, 2))
            scene.trades.append((agent, int(random.integers(0, WEEK)), trade % 5, is_own, is_buy, float(1 + trade % 7)))
    return scene


def same(one: AgentScores, other: AgentScores) -> bool:
    return (
        np.array_equal(every_number(one), every_number(other))
        and list(one.flags) == list(other.flags)
        and json.dumps(one.evidence, sort_keys=True) == json.dumps(other.evidence, sort_keys=True)
    )


def test_without_agents_there_is_nothing():
    facts = WashScene().facts()
    judgement = score_agents(facts)
    assert len(judgement.composite) == 0 and judgement.flags == [] and judgement.evidence == {}


def test_an_unknown_agent_is_scored_by_what_is_assumed_of_its_creator():
    scene = WashScene()
    scene.agents.append((0, 0))
    judgement = score_agents(scene.facts())
    assert judgement.composite[0] == pytest.approx(
        100 * score_components.CREATOR.weight * score_components.UNKNOWN_SCORE
    )
    assert np.isnan(judgement.creator_scores[0])
    assert judgement.flags == [("INSUFFICIENT_DATA",)]
    assert judgement.tallies.last_active_at[0] == 0


def test_the_weights_of_the_components_make_one():
    assert sum(part.weight for part in score_components.COMPONENTS) == pytest.approx(1)


def test_kinds_are_numbered_as_the_tables_do():
    assert (tallies.POST, tallies.REPLY, tallies.QUOTE) == (ActionKind.POST, ActionKind.REPLY, ActionKind.QUOTE)
    assert links._REPLY == InteractionKind.REPLY


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


@QUICK
@given(seed=st.integers(1, 10_000), shuffled=st.integers(1, 10_000))
def test_the_sequence_of_rows_has_no_effect(seed, shuffled):
    scene = small_world(seed)
    assert same(score_agents(scene.facts()), score_agents(scene.facts(shuffled=shuffled)))


def test_keys_too_long_for_one_number_are_ordered_all_the_same():
    keys, seconds = np.array([3, 1, 3, 1]), np.array([5, 9, 2, 4])
    few = audiences._by_key_and_time(keys, seconds, 10)
    many = audiences._by_key_and_time(keys + (1 << 60), seconds, 10)
    assert few.tolist() == many.tolist() == [3, 1, 2, 0]


@QUICK
@given(seed=st.integers(1, 10_000))
def test_the_sequence_of_agents_has_no_effect(seed):
    facts = small_world(seed).facts()
    turned = np.random.default_rng(seed).permutation(len(facts.agents.ids)).astype(np.int32)
    place = np.argsort(turned).astype(np.int32)
    agents = facts.agents
    # Row ids stay sorted; what is behind them changes places.
    other = replace(
        facts,
        agents=replace(agents, fids=agents.fids[turned], creator_fids=agents.creator_fids[turned]),
        **{
            name: replace(getattr(facts, name), agent=place[getattr(facts, name).agent])
            for name in ("runs", "actions", "interactions", "trades")
        },
    )
    one, another = score_agents(facts), score_agents(other)
    assert np.array_equal(one.composite[turned], another.composite)
    assert np.array_equal(one.wash_confidence[turned], another.wash_confidence)
    assert [one.flags[agent] for agent in turned] == list(another.flags)


@QUICK
@given(seed=st.integers(1, 10_000))
def test_numbers_are_within_their_bounds_and_each_accused_has_a_flag(seed):
    judgement = score_agents(small_world(seed).facts())
    assert np.isfinite(every_number(judgement)).all()
    assert (judgement.composite >= 0).all() and (judgement.composite <= 100).all()
    for part in [judgement.wash_confidence, *judgement.components.values()]:
        assert (part >= 0).all() and (part <= 1).all()
    for confidence, flags in zip(judgement.wash_confidence, judgement.flags, strict=True):
        assert (confidence >= 0.5) == bool(set(flags) - {"INSUFFICIENT_DATA"})
    assert set(np.concatenate([*judgement.flags, ["INSUFFICIENT_DATA"]])) <= {*FLAGS, "INSUFFICIENT_DATA"}
    json.dumps(judgement.evidence, allow_nan=False)


@QUICK
@given(seed=st.integers(1, 10_000), more=st.integers(1, 50))
def test_runs_that_succeed_never_lower_the_score(seed, more):
    scene = small_world(seed)
    before = score_agents(scene.facts())
    agent = len(scene.agents) - 1
    scene.runs += [(agent, (7919 * number) % WEEK, True) for number in range(more)]
    after = score_agents(scene.facts())
    assert after.composite[agent] >= before.composite[agent]
    assert after.components["reliability"][agent] >= before.components["reliability"][agent]
    assert np.array_equal(after.composite[:agent], before.composite[:agent])


@QUICK
@given(seed=st.integers(1, 10_000), more=st.integers(1, 40))
def test_runs_that_fail_never_raise_the_score(seed, more):
    scene = small_world(seed)
    before = score_agents(scene.facts())
    agent = len(scene.agents) - 1
    scene.runs += [(agent, (7919 * number) % WEEK, False) for number in range(more)]
    assert score_agents(scene.facts()).composite[agent] <= before.composite[agent]


@QUICK
@given(seed=st.integers(1, 10_000), scores=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_a_creator_s_higher_score_never_lowers_the_score(seed, scores):
    scene = small_world(seed)
    agent = len(scene.agents) - 1
    found = []
    for score in sorted(scores):
        scene.person(scene.agents[agent][1] + 500_000_000, score=score)
        scene.agents[agent] = (scene.agents[agent][0], scene.agents[agent][1] % 500_000_000 + 500_000_000)
        facts = scene.facts()
        fids = facts.accounts.fids
        kept = np.where(fids == scene.agents[agent][1], score, facts.accounts.scores)
        found.append(score_agents(replace(facts, accounts=replace(facts.accounts, scores=kept))).composite[agent])
        scene.agents[agent] = (scene.agents[agent][0], scene.agents[agent][1] - 500_000_000)
    assert found[0] <= found[1]


@QUICK
@given(seed=st.integers(1, 10_000), more=st.integers(1, 60))
def test_more_good_accounts_never_lower_the_score(seed, more):
    """Check actors that interact once each, after a usual delay, with an agent that has data enough to be judged."""
    scene = town(seed)
    agent = scene.agent(fid=60_000_000)
    for fan in range(12):
        scene.like(agent, scene.person(70_000_000 + fan, score=0.2), times=4, text=fan % 3)
    before = score_agents(scene.facts())
    for number in range(more):
        scene.person(200_000_033 + 100_003 * number, score=0.9)
        at = (2 * number * WEEK // 130 + 977) % WEEK
        # The cast is from before the interval, so that the usual delay stays what it is.
        scene.interactions.append((agent, max(at, 1), 1, 200_000_033 + 100_003 * number, 999_999_999, 0))
    after = score_agents(scene.facts())
    assert after.components["reach"][agent] >= before.components["reach"][agent]
    assert after.components["engagement"][agent] >= before.components["engagement"][agent]
    assert after.wash_confidence[agent] <= before.wash_confidence[agent]
    assert after.composite[agent] >= before.composite[agent]


@QUICK
@given(seed=st.integers(1, 10_000), more=st.integers(1, 300))
def test_more_unknown_accounts_never_lower_reach_and_engagement_and_add_little(seed, more):
    scene = small_world(seed)
    agent = scene.agent(fid=60_000_009)
    before = score_agents(scene.facts())
    for number in range(more):
        scene.like(agent, 90_000_000 + 31 * number)
    after = score_agents(scene.facts())
    for name, most in (("reach", 0.22), ("engagement", 0.07)):
        assert before.components[name][agent] <= after.components[name][agent] <= most


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


@pytest.mark.parametrize("name", [part.name for part in score_components.COMPONENTS])
def test_the_composite_rises_with_each_component(name):
    low = {part.name: np.array([0.5]) for part in score_components.COMPONENTS}
    high = low | {name: np.array([0.6])}
    for doubt in (0.0, 0.5, 0.99):
        assert scoring.composite_score(high, np.array([doubt])) > scoring.composite_score(low, np.array([doubt]))
    assert scoring.composite_score(high, np.array([1.0])) == 0


def test_doubt_takes_its_share_of_the_composite():
    scene = town()
    agent = scene.agent()
    for number in range(12):
        scene.like(agent, scene.person(9_500_003 + 2 * number), times=5, delay=30)
    facts = scene.facts()
    judged, trusted = score_agents(facts), score_agents(facts, excluded_flags=FLAGS)
    assert trusted.wash_confidence[agent] == 0
    expected = trusted.composite[agent] * (1 - judged.wash_confidence[agent])
    assert judged.composite[agent] == pytest.approx(expected, abs=1e-5)


def test_equals_are_ranked_by_reach_and_then_by_id():
    scene = WashScene()
    for _ in range(3):
        scene.agents.append((0, 0))
    judgement = score_agents(scene.facts())
    assert scoring.best_first(judgement).tolist() == [0, 1, 2]
    farther = dict(judgement.components) | {"reach": np.array([0.0, 0.2, 0.1])}
    assert scoring.best_first(replace(judgement, components=farther)).tolist() == [1, 2, 0]
    better = replace(judgement, composite=np.array([1.0, 2.0, 3.0]), components=farther)
    assert scoring.best_first(better).tolist() == [2, 1, 0]


def test_recent_presence_counts_for_more():
    scene = WashScene()
    for ago in (0, 6 * DAY):
        scene.agents.append((0, 0))
        scene.casts.append((len(scene.agents) - 1, ago, len(scene.agents)))
    recent, old = score_agents(scene.facts()).components["consistency"]
    assert recent > old > 0
