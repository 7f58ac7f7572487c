"""Framed rivals: a partner's reports on its own agents accuse no agent of another one, whatever owner they name."""

import pytest

from tests.leaderboard.wash.test_framed_baselines import judged_as_reported_by
from tests.rows.wash_scenes import WashScene, town

pytestmark = pytest.mark.filterwarnings("error")

RIVAL_FID = 600_000_011


def loved(scene: WashScene) -> tuple[int, list[int]]:
    """Add an honest agent with some fans who come back; return it and the fans."""
    rival = scene.agent(fid=RIVAL_FID)
    scene.crowd(rival, 30, first_fid=5_000_011)
    fans = [scene.person(5_900_003 + 1013 * number) for number in range(20)]
    for fan in fans:
        scene.like(rival, fan, times=3)
    return rival, fans


@pytest.mark.parametrize("claim", ["creator", "fid"])
def test_fans_who_are_reported_as_anothers_agents_or_creators_close_no_ring_around_a_rival(claim):
    scene = town()
    rival, fans = loved(scene)
    for fan in fans:
        made_up = scene.agent(**{claim: fan}, casts=5)
        scene.like(made_up, scene.person(RIVAL_FID), times=3)
    apart, together = judged_as_reported_by(scene.facts(), strangers=len(fans))
    assert "RECIPROCAL_RING" in together.flags[rival]
    assert apart.wash_confidence[rival] < 0.1
    assert "RECIPROCAL_RING" not in apart.evidence.get(rival, {})


def test_fans_who_are_reported_to_come_back_to_others_agents_make_no_ring_of_these_and_a_rival():
    scene = town()
    rival, fans = loved(scene)
    made_up = [scene.agent(casts=5) for _ in range(2)]
    for agent in made_up:
        for fan in fans:
            scene.like(agent, fan, times=4)
    apart, together = judged_as_reported_by(scene.facts(), strangers=len(made_up))
    assert "RECIPROCAL_RING" in together.flags[rival]
    assert apart.wash_confidence[rival] < 0.1
    assert "RECIPROCAL_RING" not in apart.evidence.get(rival, {})


def test_a_ring_among_one_partners_agents_is_found_beside_anothers():
    scene = town()
    fids = [700_000_000 + 7001 * number for number in range(4)]
    agents = [scene.agent(fid=fid) for fid in fids]
    for agent, own in zip(agents, fids, strict=True):
        scene.crowd(agent, 20, first_fid=5_000_011 + 70_001 * agent)
        for fid in fids:
            if fid != own:
                scene.like(agent, scene.person(fid), times=15)
    apart, together = judged_as_reported_by(scene.facts(), strangers=len(agents))
    assert all("RECIPROCAL_RING" in apart.flags[agent] for agent in agents)
    assert apart.evidence[agents[0]]["RECIPROCAL_RING"] == together.evidence[agents[0]]["RECIPROCAL_RING"]


def greeted(scene: WashScene) -> int:
    """Add an agent of which half of all replies are "gm"; return it."""
    agent = scene.agent()
    for number in range(60):
        fan = scene.person(5_000_011 + 70_001 * agent + 1013 * number)
        scene.like(agent, fan, text=1 if number % 2 else 1_000 * agent + number + 2)
    return agent


@pytest.mark.parametrize("many", [1, 500])
def test_a_crowd_that_says_other_things_to_others_agents_does_not_make_a_custom_look_copied(many):
    scene = town()
    agents = [greeted(scene) for _ in range(4)]
    loud = [scene.agent(casts=1) for _ in range(many)]
    for number in range(5_000):
        scene.like(loud[number % many], scene.person(8_000_009 + 7 * number), text=1_000_000 + number)
    apart, _ = judged_as_reported_by(scene.facts(), strangers=many)
    for agent in agents:
        assert "DUPLICATE_TEXT" not in apart.evidence.get(agent, {})


def test_a_text_sent_to_a_small_partners_agent_is_custom_where_it_is_among_another_ones():
    scene = town()
    *_, agent = [greeted(scene) for _ in range(4)]
    apart, _ = judged_as_reported_by(scene.facts(), strangers=1)
    assert "DUPLICATE_TEXT" not in apart.evidence.get(agent, {})
