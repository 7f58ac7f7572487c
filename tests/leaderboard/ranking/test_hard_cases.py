"""Hard cases of wash detection: wash that looks honest, and honest agents that look like wash; by judge() only."""

import numpy as np
import pytest

from leaderboard.ranking.scoring import AgentScores, score_agents
from tests.rows.agent_scenes import DAY, GM, HOUR, LIKE, MINUTE, REPLY, Scene

FLAGGED = 0.5
# It reports that too little is known, and accuses no agent.
NO_ACCUSATION = {"INSUFFICIENT_DATA"}


@pytest.fixture(params=[51, 52, 53])
def scene(request) -> Scene:
    return Scene(request.param)


def flagged(judgement: AgentScores, agent: int) -> bool:
    accusations = set(judgement.flags[agent]) - NO_ACCUSATION
    return bool(judgement.wash_confidence[agent] >= FLAGGED and accusations)


def acquitted(judgement: AgentScores, agent: int) -> bool:
    accusations = set(judgement.flags[agent]) - NO_ACCUSATION
    return bool(judgement.wash_confidence[agent] < FLAGGED and not accusations)


def judged_flags(judgement: AgentScores, *agents: int) -> str:
    return ", ".join(f"{judgement.wash_confidence[one]:.2f} {judgement.flags[one]}" for one in agents)


def test_a_slow_drip_is_flagged(scene):
    """Check forty accounts that take up a dozen casts each, at any hour, in words of their own, and nothing else."""
    agent, _ = scene.agent()
    casts = scene.casts(agent, 40)
    scene.public(casts, 150)
    for account in scene.accounts(40, scores=(0.1, 0.4), days=(20, 200)):
        for cast in scene.rng.choice(casts, size=12, replace=False).tolist():
            kind = LIKE if scene.rng.random() < 0.7 else REPLY
            scene.takes_up(account, cast, after=scene.rng.uniform(10 * MINUTE, 30 * HOUR), kind=kind)
    judgement = score_agents(scene.facts())
    assert flagged(judgement, agent), judged_flags(judgement, agent)


def test_rented_fans_are_flagged(scene):
    """Check forty people of good repute, active at other agents, who are paid to like nearly every cast."""
    agent, _ = scene.agent()
    casts = scene.casts(agent, 25)
    scene.public(casts, 150)
    for person in scene.people(40, least_score=0.5).tolist():
        for cast in casts.tolist():
            if scene.rng.random() < 0.8:
                scene.takes_up(person, cast, after=scene.rng.uniform(MINUTE, 3 * HOUR))
            if scene.rng.random() < 0.15:
                scene.takes_up(person, cast, after=scene.rng.uniform(MINUTE, 3 * HOUR), kind=REPLY)
    judgement = score_agents(scene.facts())
    assert flagged(judgement, agent), judged_flags(judgement, agent)


def test_an_honest_agent_with_one_viral_cast_is_not_flagged(scene):
    """Check two thousand strangers within a day, newborn and unknown ones among them, many with the same text."""
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
    judgement = score_agents(scene.facts())
    assert acquitted(judgement, agent), judged_flags(judgement, agent)


def test_a_tiny_community_that_is_honest_is_not_flagged(scene):
    """Check four agents and a dozen friends, some closer than others, with hardly any other company."""
    agents = [scene.agent() for _ in range(4)]
    friends = np.array([*scene.people(9).tolist(), *scene.accounts(3, scores=(0.2, 0.7), days=(30, 500))])
    for agent, fid in agents:
        others = np.array([other for _, other in agents if other != fid])
        casts = scene.casts(agent, 18)
        scene.public(casts, 45, people=friends)
        scene.public(casts, 15)
        scene.public(casts, 8, people=others)
    judgement = score_agents(scene.facts())
    members = [agent for agent, _ in agents]
    assert all(acquitted(judgement, agent) for agent in members), judged_flags(judgement, *members)


def test_a_family_of_one_creator_that_never_interacts_with_itself_is_not_flagged(scene):
    """Check six agents of one creator, each with its own public, of whom a third follow the creator to the next."""
    (creator,) = scene.accounts(1, scores=(0.6, 0.8), days=(300, 400))
    followers = scene.people(60)
    members = [scene.agent(creator=creator)[0] for _ in range(6)]
    for member in members:
        casts = scene.casts(member, 20)
        scene.public(casts, 80)
        scene.public(casts, 40, people=followers)
    judgement = score_agents(scene.facts())
    assert all(acquitted(judgement, member) for member in members), judged_flags(judgement, *members)
