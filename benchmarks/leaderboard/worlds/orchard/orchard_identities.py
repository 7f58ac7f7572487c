"""Identities that attackers claim: popular accounts' FIDs, with these accounts' audiences."""

import numpy as np

from benchmarks.leaderboard.worlds.world import DAY, POST, Purpose

from .orchard_people import OrchardCrowd
from .orchard_plan import OrchardAgent
from .orchard_stage import OrchardStage

CLAIMS = ("borrowed fid", "celebrity claim")
_DAILY_CASTS = 6
_GOOD_SCORE = 0.7


def claim_identities(stage: OrchardStage) -> dict[int, OrchardCrowd]:
    """Give these attackers' agents popular accounts' FIDs; return agent index -> their audience.

    `borrowed fid` claims the most popular accounts. `celebrity claim` describes the token that a well-known account
    launched with a verified address, before anyone else does.
    """
    rng, people = stage.rng, stage.people
    prominent = people.subset(np.flatnonzero(np.nan_to_num(people.scores) > _GOOD_SCORE))
    agents = [agent for agent in stage.agents if agent.attack in CLAIMS]
    celebrities = prominent.sample(rng, len(agents))
    audiences = {}
    for agent, fid in zip(agents, celebrities.fids.tolist(), strict=True):
        agent.fid = fid
        # Few of the very popular accounts launch tokens.
        typical = 900 if agent.attack == "borrowed fid" else 250
        size = int(min(rng.lognormal(np.log(typical), 0.8), 4_000))
        audience = people.sample(rng, size)
        audiences[agent.index] = audience.subset(np.flatnonzero(audience.fids != fid))
    return audiences


def add_claimed_audience(stage: OrchardStage, agent: OrchardAgent, audience: OrchardCrowd) -> None:
    """Add the claimed account's casts to the agent's, and the interactions with them."""
    builder, rng = stage.builder, stage.rng
    count = int(rng.poisson(_DAILY_CASTS * 7)) + 1
    times = np.sort(rng.integers(builder.start, builder.end - DAY // 4, count))
    casts = builder.add_casts(agent.index, times, kind=POST, text=builder.new_keys(count), purpose=Purpose.BOUGHT)
    claimed = OrchardAgent(agent.index, agent.kind, casts=casts, cast_at=times)
    stage.add_reactions(claimed, audience, 1 + rng.poisson(0.8, len(audience)), purpose=Purpose.BOUGHT)
