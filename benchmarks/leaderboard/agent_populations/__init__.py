"""Invented agent populations with known truth: honest ones, and ones whose engagement is made or bought.

Written regardless of wash detection, from what is known about how people and farms behave, and not changed to
make it easier or harder to find. Nothing below is measured on the social protocol itself, apart from the scores.

Honest. Public sizes, cast success and people's activity are heavy-tailed, lognormal and Pareto, as is usual
in social networks; answers come after a lognormal pause, half within 50 minutes, by the daily rhythm in the time zone
(Malmgren et al. 2008, Crane and Sornette 2008). Scores: most accounts have a low one or none, few more than 0.7 (Neynar
names 27,500, and 2,500 over 0.9, in December 2024), and active accounts a higher one; 4 in 100 are newborn.
Beside ordinary agents there are friends' communities that take each other up, one creator's families, schedulers that
post by the clock, those whose fans say "gm", those with airdrops and their hunters, niches with a dozen faithful fans,
those that are hardly known, and those with one cast that went round. At some tip bots answer within seconds,
with one text; some talk to other agents.

Planted. Rings with 1 to 8 agents and farms with 8 to 60 accounts, farms for one agent, interactions bought in bursts,
farms that copy texts, accounts bought with age and good score, and wallets that trade with themselves. That what is
bought comes in bursts from some and as a trickle from others is from De Cristofaro et al. 2014, "Paying for Likes?";
rings and self-trades are from Victor and Weintraud 2021, groups in lockstep from Pacheco et al. 2021. Each group is
careful to its own degree in each aspect: age and score of accounts, time, turns, texts, unequal use, and camouflage.
The share `stealth` in a planted agent's engagement is organic, drawn as for honest agents: at 0.85 one with a hundred
interactions has bought fifteen, and some can't be distinguished from fans.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.agent_populations.accounts import Pool, Registry, draw_pool
from benchmarks.leaderboard.agent_populations.honest import answer_by_machine, draw_company
from benchmarks.leaderboard.agent_populations.organic import LEAD, actions_of, cast, draw_actors, take_up
from benchmarks.leaderboard.agent_populations.planted import Plot, camouflage, plot, serve
from benchmarks.leaderboard.agent_populations.roles import WEEK, cast_roles, draw_habits, draw_sizes
from benchmarks.leaderboard.agent_populations.rows import (
    Pairs,
    StoredAccounts,
    StoredFacts,
    StoredInteractions,
    once_each,
    together,
    within,
)
from benchmarks.leaderboard.agent_populations.work import draw_creators, draw_runs
from leaderboard.facts.columns import Agents, BoolArray, Int64Array

COMPUTED_AT = 1_767_225_600


@dataclass(frozen=True)
class Population:
    """Facts about agents, and for each whether its engagement was tampered with, and its kind."""

    facts: StoredFacts
    planted: BoolArray
    kinds: tuple[str, ...]


def populate(
    *, seed: int, agents: int = 1000, stealth: float = 0.5, seconds: int = WEEK, volume: float = 1.0
) -> Population:
    """Return a population that is the same for the same arguments.

    agents: how many, 50 to 100,000; 8 in 100 are planted. stealth: the organic share of their engagement,
    from 0 up to below 1. seconds: how long the interval is, a day or more. volume: activity, 1 for a median of
    42 interactions a week.
    """
    rng = np.random.default_rng(seed)
    after, scale = COMPUTED_AT - seconds, volume * seconds / WEEK
    registry = Registry(COMPUTED_AT, newest=max(2_000_000, 100 * agents))
    roles = cast_roles(rng, agents=agents)
    pool = draw_pool(rng, registry, count=int(max(4000, 20_000 * (agents / 1000) ** 0.7)))
    fids = registry.scattered(rng, agents, newest=0.6)
    # For one in twenty, its account was not reported.
    fids[rng.random(agents) < 0.05] = 0
    creators = draw_creators(rng, pool.fids, pool.activity, roles.families, agents=agents)
    sizes = draw_sizes(rng, roles, scale=scale)
    habits = draw_habits(rng, roles, sizes, stealth=stealth, scale=scale, lead=(seconds + LEAD) / seconds)
    casts = cast(rng, habits, after=after, until=COMPUTED_AT)
    plots = plot(rng, registry, roles)
    hunters = rng.choice(pool.fids.size, size=pool.fids.size // 16, replace=False).astype(np.int32)
    pairs = Pairs.together(
        [
            draw_actors(rng, pool, habits, hunters),
            draw_company(rng, roles, pool, habits, sizes, fids, creators),
            camouflage(rng, plots, sizes, stealth=stealth),
        ]
    )
    parts = [take_up(rng, pairs, casts, habits), answer_by_machine(rng, pool, casts, agents=agents)]
    for one in plots:
        wanted = (1 - stealth) * sizes[one.members]
        parts.append(serve(rng, one, casts, habits, fids, wanted, begin=after, end=COMPUTED_AT))
    interactions = once_each(within(together(parts), after=after, until=COMPUTED_AT))
    facts = StoredFacts(
        computed_at=COMPUTED_AT,
        seconds=seconds,
        agents=Agents(np.sort(rng.choice(4 * agents, size=agents, replace=False) + 1), fids, creators),
        runs=draw_runs(rng, agents=agents, scale=scale, after=after, until=COMPUTED_AT),
        actions=actions_of(rng, casts, after=after, until=COMPUTED_AT),
        interactions=interactions,
        accounts=_accounts(rng, pool, plots, registry, interactions, fids, creators),
    )
    return Population(facts, roles.is_planted, roles.kinds)


def _accounts(
    rng: np.random.Generator,
    pool: Pool,
    plots: list[Plot],
    registry: Registry,
    interactions: StoredInteractions,
    agent_fids: Int64Array,
    creators: Int64Array,
) -> StoredAccounts:
    """Return actors' and creators' known values; accounts about which nothing is known are left out."""
    own = agent_fids[agent_fids != 0]
    scores = rng.beta(3, 3, size=own.size)
    scores[rng.random(own.size) < 0.4] = np.nan
    fids = np.concatenate([pool.fids, own, *(one.farm.fids for one in plots)])
    scores = np.concatenate([pool.scores, scores, *(one.farm.scores for one in plots)])
    registered = np.concatenate(
        [pool.registered_at, registry.registered_at(own), *(one.farm.registered_at for one in plots)]
    )
    recorded = np.isin(fids, np.union1d(interactions.actor, creators)) & (~np.isnan(scores) | (registered != 0))
    order = np.argsort(fids[recorded])
    return StoredAccounts(fids[recorded][order], scores[recorded][order], registered[recorded][order])
