"""Cases in which wash looks honest, or what is honest looks like wash: what must hold of each, by judge() alone."""

import numpy as np
import pytest

from leaderboard.ranking.scoring import Judgement, judge
from tests.rows.agent_scenes import DAY, GM, HOUR, LIKE, MINUTE, REPLY, Scene

FLAGGED = 0.5
# It says that too little is known, and accuses nobody.
ACCUSES_NOBODY = {"INSUFFICIENT_DATA"}


@pytest.fixture(params=[51, 52, 53])
def scene(request) -> Scene:
    return Scene(request.param)


def flagged(judgement: Judgement, agent: int) -> bool:
    accusations = set(judgement.flags[agent]) - ACCUSES_NOBODY
    return bool(judgement.wash_confidence[agent] >= FLAGGED and accusations)


def acquitted(judgement: Judgement, agent: int) -> bool:
    accusations = set(judgement.flags[agent]) - ACCUSES_NOBODY
    return bool(judgement.wash_confidence[agent] < FLAGGED and not accusations)


def say(judgement: Judgement, *agents: int) -> str:
    return ", ".join(f"{judgement.wash_confidence[one]:.2f} {judgement.flags[one]}" for one in agents)


def test_a_slow_drip_is_flagged(scene):
    """Forty accounts that do nothing else take up a dozen casts each, at any hour, in words of their own."""
    agent, _ = scene.agent()
    casts = scene.casts(agent, 40)
    scene.public(casts, 150)
    for account in scene.accounts(40, scores=(0.1, 0.4), days=(20, 200)):
        for cast in scene.rng.choice(casts, size=12, replace=False).tolist():
            kind = LIKE if scene.rng.random() < 0.7 else REPLY
            scene.takes_up(account, cast, after=scene.rng.uniform(10 * MINUTE, 30 * HOUR), kind=kind)
    judgement = judge(scene.facts())
    assert flagged(judgement, agent), say(judgement, agent)


def test_fans_who_are_rented_are_flagged(scene):
    """Forty people of good repute, who are at other agents on their own account, are paid to like nearly every cast."""
    agent, _ = scene.agent()
    casts = scene.casts(agent, 25)
    scene.public(casts, 150)
    for person in scene.people(40, least_score=0.5).tolist():
        for cast in casts.tolist():
            if scene.rng.random() < 0.8:
                scene.takes_up(person, cast, after=scene.rng.uniform(MINUTE, 3 * HOUR))
            if scene.rng.random() < 0.15:
                scene.takes_up(person, cast, after=scene.rng.uniform(MINUTE, 3 * HOUR), kind=REPLY)
    judgement = judge(scene.facts())
    assert flagged(judgement, agent), say(judgement, agent)


def test_an_honest_agent_of_whom_one_cast_goes_round_is_not_flagged(scene):
    """Two thousand strangers within a day, newborn and unknown ones among them, many with the same two letters."""
    agent, _ = scene.agent()
    casts = scene.casts(agent, 12)
    scene.public(casts, 60)
    strangers = [
        *scene.people(1200).tolist(),
        *scene.accounts(150, scores=(0.0, 0.2), days=(0.2, 6)),
        *scene.accounts(650, scores=(0.1, 0.9), days=(10, 600)),
    ]
    for stranger in strangers:
        after = np.clip(np.exp(9.3 + 1.2 * scene.rng.standard_normal()), 5, 3 * DAY)
        scene.takes_up(stranger, int(casts[3]), after=after)
        if scene.rng.random() < 0.2:
            text = GM if scene.rng.random() < 0.35 else None
            scene.takes_up(stranger, int(casts[3]), after=after + 30, kind=REPLY, text=text)
    judgement = judge(scene.facts())
    assert acquitted(judgement, agent), say(judgement, agent)


def test_a_tiny_community_that_is_honest_is_not_flagged(scene):
    """Four agents and a dozen people who know each other, some more than others, and hardly anybody else."""
    agents = [scene.agent() for _ in range(4)]
    friends = np.array([*scene.people(9).tolist(), *scene.accounts(3, scores=(0.2, 0.7), days=(30, 500))])
    for agent, fid in agents:
        others = np.array([other for _, other in agents if other != fid])
        casts = scene.casts(agent, 18)
        scene.public(casts, 45, people=friends)
        scene.public(casts, 15)
        scene.public(casts, 8, people=others)
    judgement = judge(scene.facts())
    members = [agent for agent, _ in agents]
    assert all(acquitted(judgement, agent) for agent in members), say(judgement, *members)


def test_a_family_of_one_creator_that_never_interacts_with_itself_is_not_flagged(scene):
    """Six agents of one creator, each with its own public, of whom a third follow the creator from one to the next."""
    (creator,) = scene.accounts(1, scores=(0.6, 0.8), days=(300, 400))
    followers = scene.people(60)
    members = [scene.agent(creator=creator)[0] for _ in range(6)]
    for member in members:
        casts = scene.casts(member, 20)
        scene.public(casts, 80)
        scene.public(casts, 40, people=followers)
    judgement = judge(scene.facts())
    assert all(acquitted(judgement, member) for member in members), say(judgement, *members)
