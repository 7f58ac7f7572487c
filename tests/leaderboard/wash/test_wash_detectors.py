"""Each detector on a scene that it must flag and on its honest twin, and strengths recalculated from evidence."""

import json
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.ranking.scoring import MIN_INTERACTIONS, score_agents
from leaderboard.wash.detectors import DETECTORS
from tests.rows.evidence_recalculation import measured_again, strength_again
from tests.rows.flag_scenes import SCENES, batch, clockwork, league, low_scores, strangers
from tests.rows.wash_scenes import DAY, NOW, WashScene, town


@pytest.mark.parametrize(("flag", "sign", "make"), SCENES)
def test_a_detector_is_silent_on_the_honest_twin(flag, sign, make):
    scene = town()
    agent = make(scene, honest=True)
    judgement = score_agents(scene.facts())
    assert judgement.flags[agent] == ()
    found = judgement.evidence.get(agent, {}).get(flag)
    assert found is None or found["signs"][sign]["measured"] <= found["signs"][sign]["low"]


@pytest.mark.parametrize(("flag", "sign", "make"), SCENES)
def test_a_detector_sees_its_scene_and_its_evidence_yields_the_strength(flag, sign, make):
    scene = town()
    agent = make(scene, honest=False)
    judgement = score_agents(scene.facts())
    found = json.loads(json.dumps(judgement.evidence[agent][flag], allow_nan=False))
    assert found["signs"][sign]["measured"] > found["signs"][sign]["low"]
    assert measured_again(flag, sign, found) == pytest.approx(found["signs"][sign]["measured"], abs=1e-9)
    assert strength_again(flag, found) == pytest.approx(found["strength"], abs=1e-6)
    assert len(json.dumps(found)) < 25_000


@pytest.mark.parametrize(("flag", "sign", "make"), SCENES)
def test_a_detector_that_is_left_out_reports_nothing(flag, sign, make):
    scene = town()
    agent = make(scene, honest=False)
    judgement = score_agents(scene.facts(), excluded_flags=(flag,))
    assert flag not in judgement.evidence.get(agent, {})
    assert judgement.wash_confidence[agent] <= score_agents(scene.facts()).wash_confidence[agent]


def test_the_confidence_follows_from_the_evidence_of_all_detectors():
    scene = town()
    agent = batch(scene, honest=False)
    for number in range(12):
        scene.like(agent, 9_500_003 + number * 2, times=2, text=77)
    judgement = score_agents(scene.facts())
    clear = np.prod([1 - found["weight"] * found["strength"] for found in judgement.evidence[agent].values()])
    # Detectors that saw next to nothing leave no evidence.
    assert 1 - clear == pytest.approx(judgement.wash_confidence[agent], abs=0.1)
    assert judgement.wash_confidence[agent] >= 0.5
    assert set(judgement.flags[agent]) == set(judgement.evidence[agent])


def test_an_agent_with_too_little_data_is_flagged_for_it_and_not_judged():
    scene = town()
    agent = scene.agent()
    for number in range(MIN_INTERACTIONS - 1):
        scene.like(agent, scene.person(9_500_003 + number, score=0.01, age=1), text=5)
    before = score_agents(scene.facts())
    assert before.flags[agent] == ("INSUFFICIENT_DATA",)
    assert before.wash_confidence[agent] == 0
    assert agent not in before.evidence
    scene.like(agent, 9_500_003, text=5)
    assert "LOW_SCORE_AUDIENCE" in score_agents(scene.facts()).flags[agent]


def test_undeclared_wallets_that_trade_with_a_declared_one_are_enough_to_accuse():
    scene = town()
    agent = league(scene, honest=False)
    judgement = score_agents(scene.facts())
    assert judgement.flags[agent] == ("SELF_TRADE",)
    found = judgement.evidence[agent]["SELF_TRADE"]
    assert found["signs"]["bothSides"]["measured"] < found["signs"]["circles"]["measured"]


def test_strangers_who_trade_with_each_other_are_not_enough_to_accuse():
    scene = town()
    agent = strangers(scene, honest=False)
    judgement = score_agents(scene.facts())
    assert judgement.flags[agent] == ()
    assert judgement.evidence[agent]["SELF_TRADE"]["signs"]["circles"]["measured"] == 0


def test_a_market_maker_does_not_accuse_an_agent_that_sells():
    scene = town()
    agent = league(scene, honest=False, wallets=1, is_own=False)
    for number in range(20):
        scene.trades.append((agent, 5 * DAY - number * 7200 - 600, 1, True, False, 900.0 + 37 * number))
    assert score_agents(scene.facts()).flags[agent] == ()


def test_an_answering_program_is_no_farm():
    scene = town()
    agent = clockwork(scene, honest=True)
    scene.like(agent, scene.person(6_400_009), times=20, delay=3)
    assert "BURST_TIMING" not in score_agents(scene.facts()).evidence.get(agent, {})


def test_an_agent_that_likes_itself_gets_nothing_from_it_but_doubt():
    scene = town()
    agent = scene.agent(fid=123)
    scene.crowd(agent, 30, first_fid=13_000_001)
    modest = score_agents(scene.facts())
    scene.like(agent, 123, times=60)
    vain = score_agents(scene.facts())
    assert vain.components["reach"][agent] == modest.components["reach"][agent]
    assert vain.components["engagement"][agent] == modest.components["engagement"][agent]
    assert "RECIPROCAL_RING" in vain.flags[agent]


def test_common_texts_are_a_custom():
    scene = WashScene()
    agents = [scene.agent() for _ in range(6)]
    for number in range(240):
        scene.like(agents[number % 6], scene.person(20_000_003 + 1009 * number), text=1 if number % 4 else 100 + number)
    assert not any(score_agents(scene.facts()).flags)


def test_accounts_of_unknown_score_are_taken_for_neither_low_nor_good():
    scene = town()
    agent = low_scores(scene, honest=False)
    facts = scene.facts()
    unknown = replace(facts, accounts=replace(facts.accounts, scores=np.full(len(facts.accounts.fids), np.nan)))
    assert "LOW_SCORE_AUDIENCE" in score_agents(facts).evidence[agent]
    assert "LOW_SCORE_AUDIENCE" not in score_agents(unknown).evidence.get(agent, {})


def test_neighbours_who_registered_years_apart_are_no_batch():
    scene = town()
    agent = batch(scene, honest=False)
    for number in range(12):
        scene.known[9_500_003 + number * 2] = (0.7, NOW - (100 + 90 * number) * DAY)
    assert "LOW_SCORE_AUDIENCE" not in score_agents(scene.facts()).evidence.get(agent, {})


def test_every_flag_has_a_scene():
    assert {flag for flag, _, _ in SCENES} == {detector.flag for detector in DETECTORS}
