"""Others' acts against honest agents, which no score may reward."""

import numpy as np

from benchmarks.leaderboard.worlds.world import Purpose

from .orchard_people import OrchardCrowd, register_accounts
from .orchard_plan import OrchardAgent
from .orchard_stage import ONLY_LIKES, OrchardStage


def add_framings(stage: OrchardStage) -> None:
    """Add the acts against each framed agent."""
    for agent in stage.agents:
        if agent.framing:
            _FRAMINGS[agent.framing](stage, agent)


def _add_junk_crowd(stage: OrchardStage, agent: OrchardAgent) -> None:
    """Add a farm that likes this agent only, so that its audience looks bought."""
    farm = register_accounts(stage.builder, 300, scores=(0.02, 0.4), days=(0, 20), unknown=0.3)
    counts = np.full(len(farm), 6)
    stage.add_reactions(agent, farm, counts, shares=ONLY_LIKES, purpose=Purpose.FRAMING)


def _add_flood_of_names(stage: OrchardStage, agent: OrchardAgent) -> None:
    """Add invented interactions that name the agent's own fans and strangers; the hub returns none."""
    fans = agent.audience or stage.people.sample(stage.rng, 20)
    for crowd in (fans, stage.people.sample(stage.rng, 300)):
        actors = np.repeat(crowd.fids, 3)
        times = stage.rng.integers(stage.builder.start + 1, stage.builder.end, len(actors))
        casts, times = stage.newest_casts(agent, times, np.arange(len(actors)))
        stage.add_interactions(agent, actors, times, casts, purpose=Purpose.FRAMING, confirmed=0)


def _add_ring_beside(stage: OrchardStage, agent: OrchardAgent) -> None:
    """Add accounts that like a planted agent and, in equal numbers, this honest one."""
    ring: OrchardCrowd = register_accounts(stage.builder, 60, scores=(0.2, 0.6), days=(5, 200))
    planted = next(other for other in stage.agents if other.attack == "like circle")
    for target in (agent, planted):
        counts = np.full(len(ring), 3)
        stage.add_reactions(target, ring, counts, shares=ONLY_LIKES, purpose=Purpose.FRAMING)


_FRAMINGS = {
    "junk crowd": _add_junk_crowd,
    "flood of names": _add_flood_of_names,
    "ring beside": _add_ring_beside,
}
