"""Each detector on a scene that it must see and on its honest twin, and strengths worked out again from evidence."""

import json
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.scoring import MIN_INTERACTIONS, judge
from leaderboard.wash.detectors import DETECTORS
from tests.wash_scenes import DAY, NOW, WashScene, town

MANY = 30


def concentrated(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 300 if honest else 10, first_fid=2_000_003, times=1 if honest else 60)
    return agent


def ring(scene: WashScene, *, honest: bool) -> int:
    agents = [scene.agent(fid=800_000_000 + 7001 * number) for number in range(4)]
    for agent in agents:
        scene.crowd(agent, 20, first_fid=3_000_017 + 70_001 * agent)
    for number in range(MANY):
        fid = scene.person(4_000_037 + 1009 * number)
        for agent in agents[:1] if honest else agents:
            scene.like(agent, fid, times=3)
    return agents[0]


def members(scene: WashScene, *, honest: bool) -> int:
    fids = [700_000_000 + 7001 * number for number in range(4)]
    agents = [scene.agent(fid=fid) for fid in fids]
    for agent in agents:
        scene.crowd(agent, 20, first_fid=5_000_011 + 70_001 * agent)
    # Who is liked by agents that it doesn't like back is in no ring with them.
    for agent in agents[:1] if honest else agents:
        for fid in fids:
            if fid != fids[agent - agents[0]]:
                scene.like(agent, scene.person(fid), times=15)
    return agents[0]


def clockwork(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 40, first_fid=6_000_011)
    for number in range(15):
        fid = scene.person(6_500_003 + 1013 * number)
        scene.like(agent, fid, times=5, delay=None if honest else 40 + number)
    return agent


def bursts(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 40, first_fid=7_000_003)
    for number in range(40):
        fid = scene.person(7_500_013 + 1013 * number)
        scene.like(agent, fid)
        if not honest:
            kept = scene.interactions[-1]
            scene.interactions[-1] = (kept[0], 2 * DAY + 10_000 * (number // 8) + number % 8 * 12, *kept[2:])
    return agent


def low_scores(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 60, first_fid=8_000_009, score=0.6 if honest else 0.1)
    return agent


def newborn(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    for number in range(60):
        scene.like(agent, scene.person(8_500_003 + 997 * number, age=400 if honest else 5))
    return agent


def batch(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 60, first_fid=9_000_001)
    for number in range(12):
        scene.like(agent, scene.person(9_500_003 + number * (60_000 if honest else 2)), times=4)
    return agent


def copied(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    for number in range(40):
        fid = scene.person(10_000_019 + 1009 * number)
        scene.like(agent, fid, text=5_000 + (number if honest else number % 3))
    return agent


def self_trades(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 60, first_fid=11_000_003)
    for number in range(40):
        scene.trades.append((agent, 6 * DAY - number * 9000, 70 + number, False, number % 3 > 0, 100.0 + 31 * number))
    for number in range(30):
        # An agent that sells for its creator, and does not buy back.
        amount = 500.0 + 97 * (number // 2)
        scene.trades.append(
            (agent, 5 * DAY - number * 3000, 1 + number % 2, True, not honest and number % 2 == 0, amount)
        )
    return agent


def round_trips(scene: WashScene, *, honest: bool) -> int:
    agent = scene.agent()
    scene.crowd(agent, 60, first_fid=12_000_017)
    for number in range(60):
        wallet = number if honest else number // 2
        scene.trades.append((agent, DAY // 2 + number % 2 * 60, wallet, False, number % 2 == 0, 10.0 + wallet))
    return agent


def league(scene: WashScene, *, honest: bool, wallets: int = 6, is_own: bool = True) -> int:
    """A purchase every two hours and a sale 20 minutes later by the next wallet, of which one is declared."""
    agent = scene.agent()
    scene.crowd(agent, 60, first_fid=13_000_027)
    for number in range(70):
        scene.trades.append((agent, 6 * DAY - number * 7000, 100 + number, False, number % 3 > 0, 3.0 * 1.4**number))
    for number in range(50):
        for is_buy, later in ((True, 0), (False, 1)):
            wallet = (number + later) % wallets
            # People who come back, and the agent that sells, do so for amounts and at times of their own.
            at = 5 * DAY - number * 7200 - later * (30_000 if honest else 1200)
            amount = (1000.0 + 37 * number) * (1 - later * (0.6 if honest else 0.12))
            scene.trades.append((agent, at, wallet, is_own and wallet == 0, is_buy, amount))
    return agent


def strangers(scene: WashScene, *, honest: bool) -> int:
    return league(scene, honest=honest, is_own=False)


SCENES = [
    ("CONCENTRATED", "shortfall", concentrated),
    ("CONCENTRATED", "devoted", concentrated),
    ("RECIPROCAL_RING", "feeders", ring),
    ("RECIPROCAL_RING", "members", members),
    ("BURST_TIMING", "clockwork", clockwork),
    ("BURST_TIMING", "bursts", bursts),
    ("LOW_SCORE_AUDIENCE", "low", low_scores),
    ("LOW_SCORE_AUDIENCE", "newborn", newborn),
    ("LOW_SCORE_AUDIENCE", "batch", batch),
    ("DUPLICATE_TEXT", "copied", copied),
    ("SELF_TRADE", "bothSides", self_trades),
    ("SELF_TRADE", "matched", self_trades),
    ("SELF_TRADE", "circles", league),
    ("SELF_TRADE", "strangers", strangers),
    ("SELF_TRADE", "roundTrips", round_trips),
]


def listed(found: dict, of: str = "interactions") -> float:
    """What a list of evidence sums up to, others included."""
    shown = found["accounts"] if "accounts" in found else found["listed"]
    return sum(one[of] for one in shown) + found["others"][of]


def measured_again(flag: str, sign: str, found: dict) -> float:
    """A sign's value, from what its evidence lists alone."""
    whole = found.get("interactions", 0)
    if sign == "shortfall":
        everyone = found["audience"]
        squares = sum(one["interactions"] ** 2 for one in everyone["accounts"]) + everyone["others"]["squares"]
        weekly = whole / found["weeks"]
        short = 1 - whole**2 / squares / weekly ** found["usualPower"]
        return max(short, 0) * weekly / (weekly + found["doubt"]["shortfall"])
    if sign == "devoted":
        return listed(found["devoted"]) / (whole + found["doubt"]["devoted"])
    if sign == "feeders":
        return listed(found["feeders"]) / (whole + found["doubt"])
    if sign == "members":
        return (listed(found["members"]["into"]) + found["own"]) / (whole + found["own"] + found["doubt"])
    if sign == "clockwork":
        counts = [one["interactions"] for one in found["clockwork"]["accounts"]]
        return max(listed(found["clockwork"]) - found["spared"] * max(counts, default=0), 0) / whole
    if sign == "bursts":
        return listed(found["bursts"]) / (found["bursts"]["counted"] + found["bursts"]["doubt"])
    if sign == "low":
        return listed(found["low"]) / (found["knownInteractions"] + found["doubt"])
    if sign in ("newborn", "batch"):
        return listed(found[sign]) / (whole + found["doubt"])
    if sign == "copied":
        copies = [max(one["accounts"] - 1 - found["custom"] * one["expected"], 0) for one in found["listed"]]
        return (sum(copies) + found["others"]["copies"]) / (found["texts"] + found["doubt"])
    if sign == "bothSides":
        return 2 * min(found["ownBuys"], found["ownSells"]) / (found["trades"] + found["doubt"])
    name = "circles" if sign == "strangers" else sign
    number = len(found[name]["listed"]) + found[name]["others"]
    if sign == "circles":
        number = number - found["spared"] if found["circlingOwn"] else 0
    if sign == "strangers":
        number -= found["circlingOwn"]
    return number / (found["trades"] + found["doubt"])


def strength_again(flag: str, found: dict) -> float:
    """A detector's strength, from what its evidence lists alone."""
    strengths = []
    for name, sign in found["signs"].items():
        part = (measured_again(flag, name, found) - sign["low"]) / (sign["high"] - sign["low"])
        strengths.append(sign["top"] * min(max(part, 0), 1))
    return max(strengths)


@pytest.mark.parametrize(("flag", "sign", "make"), SCENES)
def test_a_detector_is_silent_on_the_honest_twin(flag, sign, make):
    scene = town()
    agent = make(scene, honest=True)
    judgement = judge(scene.facts())
    assert judgement.flags[agent] == ()
    found = judgement.evidence.get(agent, {}).get(flag)
    assert found is None or found["signs"][sign]["measured"] <= found["signs"][sign]["low"]


@pytest.mark.parametrize(("flag", "sign", "make"), SCENES)
def test_a_detector_sees_its_scene_and_its_evidence_tells_the_strength(flag, sign, make):
    scene = town()
    agent = make(scene, honest=False)
    judgement = judge(scene.facts())
    found = json.loads(json.dumps(judgement.evidence[agent][flag], allow_nan=False))
    assert found["signs"][sign]["measured"] > found["signs"][sign]["low"]
    assert measured_again(flag, sign, found) == pytest.approx(found["signs"][sign]["measured"], abs=1e-9)
    assert strength_again(flag, found) == pytest.approx(found["strength"], abs=1e-6)
    assert len(json.dumps(found)) < 25_000


@pytest.mark.parametrize(("flag", "sign", "make"), SCENES)
def test_a_detector_that_is_left_out_says_nothing(flag, sign, make):
    scene = town()
    agent = make(scene, honest=False)
    judgement = judge(scene.facts(), without=(flag,))
    assert flag not in judgement.evidence.get(agent, {})
    assert judgement.wash_confidence[agent] <= judge(scene.facts()).wash_confidence[agent]


def test_the_confidence_follows_from_the_evidence_of_all_detectors():
    scene = town()
    agent = batch(scene, honest=False)
    for number in range(12):
        scene.like(agent, 9_500_003 + number * 2, times=2, text=77)
    judgement = judge(scene.facts())
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
    before = judge(scene.facts())
    assert before.flags[agent] == ("INSUFFICIENT_DATA",)
    assert before.wash_confidence[agent] == 0
    assert agent not in before.evidence
    scene.like(agent, 9_500_003, text=5)
    assert "LOW_SCORE_AUDIENCE" in judge(scene.facts()).flags[agent]


def test_undeclared_wallets_that_trade_with_a_declared_one_accuse_alone():
    scene = town()
    agent = league(scene, honest=False)
    judgement = judge(scene.facts())
    assert judgement.flags[agent] == ("SELF_TRADE",)
    found = judgement.evidence[agent]["SELF_TRADE"]
    assert found["signs"]["bothSides"]["measured"] < found["signs"]["circles"]["measured"]


def test_strangers_who_trade_with_each_other_do_not_accuse_alone():
    scene = town()
    agent = strangers(scene, honest=False)
    judgement = judge(scene.facts())
    assert judgement.flags[agent] == ()
    assert judgement.evidence[agent]["SELF_TRADE"]["signs"]["circles"]["measured"] == 0


def test_a_market_maker_does_not_accuse_an_agent_that_sells():
    scene = town()
    agent = league(scene, honest=False, wallets=1, is_own=False)
    for number in range(20):
        scene.trades.append((agent, 5 * DAY - number * 7200 - 600, 1, True, False, 900.0 + 37 * number))
    assert judge(scene.facts()).flags[agent] == ()


def test_an_answering_program_is_no_farm():
    scene = town()
    agent = clockwork(scene, honest=True)
    scene.like(agent, scene.person(6_400_009), times=20, delay=3)
    assert "BURST_TIMING" not in judge(scene.facts()).evidence.get(agent, {})


def test_an_agent_that_likes_itself_gets_nothing_from_it_but_doubt():
    scene = town()
    agent = scene.agent(fid=123)
    scene.crowd(agent, 30, first_fid=13_000_001)
    modest = judge(scene.facts())
    scene.like(agent, 123, times=60)
    vain = judge(scene.facts())
    assert vain.components["reach"][agent] == modest.components["reach"][agent]
    assert vain.components["engagement"][agent] == modest.components["engagement"][agent]
    assert "RECIPROCAL_RING" in vain.flags[agent]


def test_what_everybody_says_is_a_custom():
    scene = WashScene()
    agents = [scene.agent() for _ in range(6)]
    for number in range(240):
        scene.like(agents[number % 6], scene.person(20_000_003 + 1009 * number), text=1 if number % 4 else 100 + number)
    assert not any(judge(scene.facts()).flags)


def test_accounts_of_unknown_score_are_taken_for_neither_low_nor_good():
    scene = town()
    agent = low_scores(scene, honest=False)
    facts = scene.facts()
    unknown = replace(facts, accounts=replace(facts.accounts, scores=np.full(len(facts.accounts.fids), np.nan)))
    assert "LOW_SCORE_AUDIENCE" in judge(facts).evidence[agent]
    assert "LOW_SCORE_AUDIENCE" not in judge(unknown).evidence.get(agent, {})


def test_neighbours_who_registered_years_apart_are_no_batch():
    scene = town()
    agent = batch(scene, honest=False)
    for number in range(12):
        scene.known[9_500_003 + number * 2] = (0.7, NOW - (100 + 90 * number) * DAY)
    assert "LOW_SCORE_AUDIENCE" not in judge(scene.facts()).evidence.get(agent, {})


def test_every_flag_has_a_scene():
    assert {flag for flag, _, _ in SCENES} == {detector.flag for detector in DETECTORS}
