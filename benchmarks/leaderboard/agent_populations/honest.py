"""Honest company beside the public: friends, siblings, other agents, and machines that answer every mention."""

import numpy as np

from benchmarks.leaderboard.agent_populations.accounts import Pool, draw_weighted
from benchmarks.leaderboard.agent_populations.organic import Casts, Habits
from benchmarks.leaderboard.agent_populations.roles import Roles
from benchmarks.leaderboard.agent_populations.rows import REPLY, Pairs, StoredInteractions, confirmed_rows, draw_keys
from leaderboard.facts.columns import Float64Array, Int32Array, Int64Array


def draw_company(
    rng: np.random.Generator,
    roles: Roles,
    pool: Pool,
    habits: Habits,
    sizes: Float64Array,
    fids: Int64Array,
    creators: Int64Array,
) -> Pairs:
    """Draw pairs among agents, creators and friends. `fids` are the agents' own, 0 where unknown."""
    parts = [_among_agents(rng, habits, sizes, fids)]
    parts += [_among_friends(rng, group, pool, habits, sizes, fids) for group in roles.communities]
    parts += [_in_family(rng, group, habits, sizes, fids, creators) for group in roles.families]
    return Pairs.together(parts)


def _among_agents(rng: np.random.Generator, habits: Habits, sizes: Float64Array, fids: Int64Array) -> Pairs:
    """Draw agents that answer agents, wherever a larger one is talked to; those that do are a tenth."""
    agent = draw_weighted(rng, np.sqrt(sizes) + 0.1, 2 * sizes.size)
    talkative = np.flatnonzero(rng.random(sizes.size) < 0.1).astype(np.int32)
    if not talkative.size:
        return _pairs(agent[:0], agent[:0], habits, fids)
    actor = talkative[draw_weighted(rng, 1 / np.arange(1, talkative.size + 1), agent.size)]
    return _pairs(agent, actor, habits, fids)


def _among_friends(
    rng: np.random.Generator, group: Int32Array, pool: Pool, habits: Habits, sizes: Float64Array, fids: Int64Array
) -> Pairs:
    """Draw a small community: agents and 8 to 40 people who take each other up, some far more than others."""
    friends = rng.choice(pool.fids.size, size=rng.integers(8, 41), replace=False)
    actors = np.concatenate([pool.fids[friends], fids[group]])
    zones = np.concatenate([pool.zone[friends], habits.zone[group]])
    weights = np.exp(1.1 * rng.standard_normal(actors.size))
    weights[friends.size :] *= rng.uniform(0.5, 4)
    counts = rng.poisson(sizes[group] * rng.uniform(0.25, 1.2))
    agent = np.repeat(group, counts)
    chosen = draw_weighted(rng, weights, agent.size)
    kept = (actors[chosen] != 0) & (actors[chosen] != fids[agent])
    return Pairs(agent[kept], actors[chosen[kept]], zones[chosen[kept]])


def _in_family(
    rng: np.random.Generator,
    group: Int32Array,
    habits: Habits,
    sizes: Float64Array,
    fids: Int64Array,
    creators: Int64Array,
) -> Pairs:
    """Draw one creator's agents, who looks after them; in half the families they greet each other now and then."""
    counts = rng.poisson(rng.uniform(0, 0.05) * sizes[group] + 1)
    looked_after = np.repeat(group, counts)
    zone = np.full(looked_after.size, rng.choice(habits.zone[group]), dtype=np.int8)
    own = Pairs(looked_after, creators[looked_after], zone)
    if rng.random() < 0.5:
        return own
    greeted = np.repeat(group, rng.poisson(0.02 * sizes[group]))
    return Pairs.together([own, _pairs(greeted, rng.choice(group, size=greeted.size), habits, fids)])


def _pairs(agent: Int32Array, actor: Int32Array, habits: Habits, fids: Int64Array) -> Pairs:
    """Return pairs of agents that take agents up, as far as they have an account and are not themselves."""
    kept = (agent != actor) & (fids[actor] != 0)
    agent, actor = agent[kept], actor[kept]
    return Pairs(agent, fids[actor], habits.zone[actor])


def answer_by_machine(rng: np.random.Generator, pool: Pool, casts: Casts, *, agents: int) -> StoredInteractions:
    """Draw tip bots, translators: seconds after a cast, day and night, by three texts, at one in eight agents."""
    bots = rng.choice(pool.fids, size=6, replace=False)
    texts = draw_keys(rng, bots.size * 3)
    share = np.where(rng.random(agents) < 0.12, rng.uniform(0.02, 0.25, size=agents), 0)
    chosen = np.flatnonzero(rng.random(casts.agent.size) < share[casts.agent])
    bot = rng.integers(0, bots.size, size=agents)[casts.agent[chosen]]
    return confirmed_rows(
        agent=casts.agent[chosen],
        at=casts.at[chosen] + rng.integers(2, 20, size=chosen.size),
        kind=np.full(chosen.size, REPLY, dtype=np.int8),
        actor=bots[bot],
        cast=casts.key[chosen],
        text=texts[bot * 3 + rng.integers(0, 3, size=chosen.size)],
    )
