"""Agents' runs and creators."""

import numpy as np

from benchmarks.leaderboard.agent_populations.accounts import draw_weighted
from leaderboard.facts.columns import Float64Array, Int32Array, Int64Array, Runs


def draw_runs(rng: np.random.Generator, *, agents: int, scale: float, after: int, until: int) -> Runs:
    """Draw some 25 runs a week, 7 in 8 successful; one agent in seven is not worth much."""
    counts = rng.poisson(25 * scale * np.exp(1.2 * rng.standard_normal(agents)))
    agent = np.repeat(np.arange(agents, dtype=np.int32), counts)
    chance = np.where(rng.random(agents) < 0.15, rng.beta(3, 2, size=agents), rng.beta(14, 2, size=agents))
    at = rng.integers(after + 1, until + 1, size=agent.size)
    return Runs(agent, at, rng.random(agent.size) < chance[agent])


def draw_creators(
    rng: np.random.Generator, fids: Int64Array, activity: Float64Array, families: list[Int32Array], *, agents: int
) -> Int64Array:
    """Draw the creators' FIDs, from active accounts; one in ten is unknown, and a family has one."""
    creators = fids[draw_weighted(rng, np.sqrt(activity), agents)]
    creators[rng.random(agents) < 0.1] = 0
    for family in families:
        creators[family] = fids[rng.integers(0, fids.size)]
    return creators
