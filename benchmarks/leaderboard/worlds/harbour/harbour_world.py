"""Harbour: a large, noisy platform in its growth phase, with industrial engagement sellers."""

import numpy as np

from benchmarks.leaderboard.worlds.world import World, WorldBuilder

from .harbour_attacks import ATTACKS, add_attacks
from .harbour_framings import FRAMINGS, add_framings
from .harbour_plan import plan_agents
from .harbour_publics import add_life
from .harbour_stage import HarbourStage
from .harbour_trades import add_market


def build_world(*, seed: int, stealth: float, agents: int = 1_000) -> World:
    """Return a week on the platform. `stealth` is the organic share in a planted agent's engagement."""
    builder = WorldBuilder(seed)
    stage = HarbourStage(builder, plan_agents(builder.rng, agents, ATTACKS, FRAMINGS))
    creators = np.where(builder.rng.random(agents) < 0.15, 0, stage.public.pick(builder.rng, agents).fids)
    for agent in stage.agents:
        # A few honest agents' account is unknown.
        is_known = agent.attack or agent.framing or builder.rng.random() > 0.05
        builder.add_agent(
            agent.kind,
            fid=int(stage.droids.fids[agent.index]) if is_known else 0,
            creator_fid=int(creators[agent.owner]),
            reporter=agent.reporter,
            attack=agent.attack,
            framing=agent.framing,
        )
        add_life(stage, agent)
        add_market(stage, agent)
    add_attacks(stage, stealth)
    add_framings(stage)
    return builder.build()
