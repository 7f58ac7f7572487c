"""Orchard: a small network with many tiny agents, and buyers who read the public guide."""

import numpy as np

from benchmarks.leaderboard.worlds.world import World, WorldBuilder

from .orchard_attacks import add_attacks
from .orchard_framings import add_framings
from .orchard_habits import add_life, add_neighbours
from .orchard_identities import CLAIMS, claim_identities
from .orchard_plan import plan_agents
from .orchard_stage import OrchardStage


def build_world(*, seed: int, stealth: float, agents: int = 1_000) -> World:
    """Return a week on the network.

    stealth: organic share among a planted agent's interactions. `celebrity claim`,
    `borrowed fid`, `thin day`, `own word` and `wash trades` do not depend on it.
    """
    builder = WorldBuilder(seed)
    stage = OrchardStage(builder, plan_agents(builder.rng, agents))
    _name_creators(stage)
    claimed = claim_identities(stage)
    for agent in stage.agents:
        builder.add_agent(
            agent.kind,
            fid=agent.fid,
            creator_fid=agent.creator_fid,
            reporter=agent.reporter,
            attack=agent.attack,
            framing=agent.framing,
            # An attacker can't publish a FID's post that proves it.
            is_proven=agent.attack not in CLAIMS and agent.kind != "fidless reported",
        )
        add_life(stage, agent)
    add_neighbours(stage)
    add_attacks(stage, stealth, claimed)
    add_framings(stage)
    return builder.build()


def _name_creators(stage: OrchardStage) -> None:
    """Set the creator for each owner's agents; one honest owner in eight reports none."""
    rng, size = stage.rng, len(stage.agents)
    creators = stage.people.sample(rng, size).fids[rng.permutation(size)]
    prominent = stage.people.fids[np.nan_to_num(stage.people.scores) > 0.95]
    has_none = rng.random(size) < 0.125
    for agent in stage.agents:
        if agent.attack in ("own word", "thin day"):
            # Anyone may be named as the creator.
            agent.creator_fid = int(rng.choice(prominent))
        elif agent.attack or not has_none[agent.owner]:
            agent.creator_fid = int(creators[agent.owner])
