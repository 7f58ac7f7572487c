"""Audience weights and their discounts: what counts, what others can do to an agent, and the evidence."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.facts.audiences import build_audience
from leaderboard.ranking.audience_weight import EARLIER_SHARE, MAX_ACCOUNTS, UNKNOWN_SCORE, weigh_audience
from leaderboard.ranking.discounts import bounded
from leaderboard.ranking.scoring import score_agents
from tests.rows.ranking_scenes import RankingScene, town


def counted(scene: RankingScene) -> np.ndarray:
    facts = scene.facts()
    return weigh_audience(facts, build_audience(facts)).counted


def scene_of_two() -> tuple[RankingScene, int, int]:
    """Build two owners' agents, without an audience."""
    scene = RankingScene()
    return scene, scene.agent(), scene.agent()


def test_an_account_that_interacts_with_two_owners_counts_in_full_at_both():
    scene, one, other = scene_of_two()
    for agent, times in ((one, 1), (other, 3)):
        scene.like(agent, scene.person(7, score=0.8), times=times)
    assert counted(scene).tolist() == pytest.approx([0.64, 0.64 * 1.5])


def test_an_account_counts_at_most_twice_and_an_unknown_one_hardly():
    scene, one, other = scene_of_two()
    for fid in (7, 8):
        scene.like(one, fid, times=20)
        scene.like(other, fid)
    scene.person(7, score=1.0)
    assert counted(scene)[0] == pytest.approx((1 + UNKNOWN_SCORE**2) * 40 / 21)


def test_an_agent_s_interactions_with_its_own_casts_do_not_count():
    scene = RankingScene()
    agent = scene.agent(fid=5)
    scene.like(agent, scene.person(5, score=1.0), times=9)
    assert counted(scene)[agent] == 0


@pytest.mark.parametrize("accounts", [1, 100, 3_000])
def test_accounts_of_one_owner_only_count_less_than_eight_together(accounts):
    scene, one, _ = scene_of_two()
    scene.crowd(one, accounts, first_fid=100, score=1.0)
    assert counted(scene)[one] == pytest.approx(accounts * 8 / (accounts + 8))
    flags = score_agents(scene.facts()).flags[one]
    assert flags == (() if accounts == 1 else ("NARROW",))


def test_accounts_of_two_agents_of_one_owner_are_narrow():
    scene = RankingScene()
    agents = [scene.agent(reporter=3, creator=5), scene.agent(reporter=3, creator=5)]
    by_operators = [scene.agent(reporter=0, creator=9), scene.agent(reporter=0, creator=9), scene.agent(reporter=0)]
    for agent in (*agents, *by_operators[:2]):
        scene.like(agent, scene.person(100 + agent // 2, score=1.0))
    assert counted(scene).tolist() == pytest.approx([8 / 9] * 4 + [0])
    scene.like(by_operators[2], 101)
    assert counted(scene)[2:].tolist() == pytest.approx([1, 1, 1])


def test_accounts_that_only_the_reporter_names_count_next_to_nothing():
    scene, one, other = scene_of_two()
    for fid in scene.crowd(other, 500, first_fid=100, score=1.0):
        scene.like(one, fid, is_confirmed=False)
    assert counted(scene)[one] < 0.01
    assert score_agents(scene.facts()).flags[one] == ("UNCONFIRMED",)
    # Named at another owner's agent, an account is not wider.
    assert score_agents(scene.facts()).flags[other] == ("NARROW",)


def test_an_agent_s_confirmed_interaction_changes_no_other_agent():
    scene = RankingScene()
    agents = [scene.agent() for _ in range(3)]
    for agent in agents:
        for fid in range(30):
            scene.like(agent, scene.person(1_000 * agent + fid + 1), is_confirmed=False)
    before = counted(scene).tolist()
    assert before == pytest.approx([0.01] * 3, rel=0.01)
    scene.like(agents[0], scene.person(99_999))
    assert counted(scene).tolist()[1:] == before[1:]


def test_a_key_that_reports_for_many_owners_narrows_none_of_them():
    scene = RankingScene()
    for owner in range(4):
        agent = scene.agent(reporter=9, creator=100 + owner)
        for fid in range(30):
            scene.like(agent, scene.person(1_000 + fid))
    rival = scene.agent(reporter=8, creator=200)
    scene.crowd(rival, 30, first_fid=5_000)
    weights = counted(scene)
    assert weights[:4].tolist() == pytest.approx([30 * 0.49] * 4) and weights[rival] < weights[0]
    assert set(score_agents(scene.facts()).flags[:4]) == {()}


def test_an_account_is_judged_by_its_confirmed_interactions_before_the_interval_too():
    scene, one, other = scene_of_two()
    scene.like(one, scene.person(7, score=1.0))
    scene.like(one, 7, times=2, is_current=False)
    scene.like(one, 7, times=5, is_confirmed=False)
    assert counted(scene)[one] == pytest.approx(1.5 * 8 / (1.5 + 8))
    scene.like(other, 7, is_current=False)
    assert counted(scene).tolist() == pytest.approx([1.5, EARLIER_SHARE])
    assert score_agents(scene.facts()).tallies.interactions.tolist() == [6, 0]


@pytest.mark.parametrize("is_reported", [False, True])
def test_an_account_that_interacted_before_the_interval_only_counts_half(is_reported):
    """What only a key reports does not make the account a current one."""
    scene, one, other = scene_of_two()
    scene.like(one, scene.person(7, score=1.0), times=3, is_current=False)
    scene.like(other, 7)
    if is_reported:
        scene.like(one, 7, times=9, is_confirmed=False)
    assert counted(scene)[one] == pytest.approx(EARLIER_SHARE * 1.5)
    scene.like(one, 7)
    assert counted(scene)[one] == pytest.approx(1.6)


def test_a_busy_day_alone_does_not_outrank_a_week():
    """In the 24-hour ranking, one agent has a day's accounts, and another one a whole week's."""
    scene, steady, bought = scene_of_two()
    witness = scene.agent()
    for fid in range(100, 170):
        scene.like(steady, scene.person(fid), is_current=fid < 110)
        scene.like(witness, fid)
    for fid in range(200, 230):
        scene.like(bought, scene.person(fid))
        scene.like(witness, fid)
    weights = counted(scene)
    assert weights[steady] == pytest.approx((10 + 60 * EARLIER_SHARE) * 0.49)
    assert weights[bought] == pytest.approx(30 * 0.49) and weights[bought] < weights[steady]


@pytest.mark.parametrize("weight", [0.01, 1.0, 1e6])
def test_a_bounded_weight_rises_and_stays_under_its_limit(weight):
    small, large = bounded(np.array([weight, 2 * weight]), np.array([5.0, 5.0]))
    assert 0 < small < large < 5


def test_the_evidence_has_the_figures_of_the_formula_and_the_heaviest_accounts():
    scene = town()
    agent = scene.agent()
    for fid in scene.crowd(0, 20, first_fid=700_000, score=0.9):
        scene.like(agent, fid)
    narrow = scene.crowd(agent, 40, first_fid=500_000, score=0.6, times=3)
    scene.like(agent, 999_999)
    scores = score_agents(scene.facts())
    found = json.loads(json.dumps(scores.evidence[agent]))["NARROW"]
    assert (found["accounts"], found["interactions"]) == (41, 121)
    assert found["weight"] == pytest.approx(40 * 0.36 * 1.5 + UNKNOWN_SCORE**2)
    assert found["independent"] == pytest.approx(20 * 0.81)
    assert found["limit"] == pytest.approx(8 + found["independent"] / 4)
    assert found["counted"] == pytest.approx(found["weight"] * found["limit"] / (found["weight"] + found["limit"]))
    assert [row["fid"] for row in found["listed"]] == narrow[:MAX_ACCOUNTS]
    assert found["listed"][0] == {"fid": narrow[0], "interactions": 3, "score": 0.6, "weight": pytest.approx(0.54)}
    whole = found["weight"] + found["independent"]
    assert scores.discounted[agent] == pytest.approx(1 - (found["counted"] + found["independent"]) / whole, abs=1e-6)


def test_an_account_that_confirms_what_was_reported_lowers_nothing():
    scene, one, _ = scene_of_two()
    scene.crowd(one, 3_000, first_fid=100, score=1.0)
    for fid in range(10):
        scene.like(one, scene.person(90_000 + fid, score=1.0), is_confirmed=False)
    before = counted(scene)[one]
    for fid in range(10):
        scene.like(one, 90_000 + fid)
    assert counted(scene)[one] >= before


@settings(max_examples=60)
@given(seed=st.integers(1, 10_000), data=st.data())
def test_nothing_that_others_do_lowers_a_composite(seed, data):
    """Add accounts, other owners' agents and any interactions to a random world."""
    scene = town(seed)
    victim = scene.agent(fid=1, creator=5, reporter=77)
    people = list(range(10_000, 10_030)) + list(range(100_000, 100_020))
    people += range(700_000, 700_010)
    for fid in scene.random.choice(people, size=25, replace=False).tolist():
        marks = scene.random.random(2) < 0.8
        scene.like(
            victim,
            fid,
            times=int(scene.random.integers(1, 5)),
            is_confirmed=bool(marks[0]),
            is_current=bool(marks[1]),
        )
    before = score_agents(scene.facts())
    # They may name any agent's creator as theirs.
    rivals = [
        scene.agent(
            fid=data.draw(st.sampled_from((0, *people))), creator=data.draw(st.sampled_from((0, 5, 6))), reporter=66
        )
        for _ in range(3)
    ]
    actors = st.one_of(st.sampled_from(people), st.integers(500_000, 500_100), st.sampled_from((1, 2)))
    for _ in range(data.draw(st.integers(1, 60))):
        target = data.draw(st.sampled_from((victim, 0, *rivals)))
        # Only the victim's own reporter could report an unconfirmed interaction with it.
        is_confirmed = target in (victim, 0) or data.draw(st.booleans())
        scene.like(
            target,
            data.draw(actors),
            times=data.draw(st.integers(1, 9)),
            is_confirmed=is_confirmed,
            is_current=data.draw(st.booleans()),
        )
    for fid in data.draw(st.lists(st.integers(500_000, 500_100), max_size=20)):
        scene.person(fid, score=data.draw(st.floats(0, 1)))
    after = score_agents(scene.facts())
    assert after.composite[victim] >= before.composite[victim]
