"""Organic life for the orchard's agents: casts, runs, audiences and interactions by kind."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.worlds.world import DAY, END, POST, QUOTE, REPLY
from leaderboard.facts.columns import Float64Array, Int64Array

from .orchard_people import HOUR, OrchardCrowd, join_crowds, register_accounts
from .orchard_plan import OrchardAgent
from .orchard_stage import CONVERSATION, MOSTLY_LIKES, OrchardStage, Shares

_ASIA = 5
# Accounts that interact in a week with the largest agents.
_LARGEST_AUDIENCE = 2_500
_MOST_INTERACTIONS = 60
# Owners who buy engagement compete for the first places with agents that already have a public. Cheap attacks are of
# owners who have neither.
_PLANTED_REACH, _CHEAP_REACH = 2.5, 0.3
_CHEAP_ATTACKS = ("own word", "thin day", "wash trades")


@dataclass(frozen=True)
class OrchardHabit:
    """An agent kind's activity, and its audiences'."""

    daily_casts: float
    # Factor on the audience that the agent's followers give.
    reach: float = 1.0
    # An account's mean interactions within a week.
    interactions: float = 1.8
    # Replies' share among casts.
    replies: float = 0.2
    shares: Shares = MOSTLY_LIKES
    # Casts come in a few hour-long bursts, by day and night, or within a time zone's waking hours.
    rhythm: str = "steady"


HABITS = {
    "broadcaster": OrchardHabit(12, reach=1.3, replies=0.05),
    "chatter": OrchardHabit(25, reach=0.8, interactions=4, replies=0.9, shares=CONVERSATION),
    "burster": OrchardHabit(6, rhythm="bursts"),
    "village": OrchardHabit(5, interactions=5, replies=0.5, rhythm="waking"),
    "newborn": OrchardHabit(8, reach=0.5),
    "family": OrchardHabit(7, reach=0.8, interactions=2.2),
    "viral": OrchardHabit(6),
    "overseas": OrchardHabit(8, interactions=2, rhythm="waking"),
    "specialist": OrchardHabit(3, reach=0.6, interactions=2.5, replies=0.4, rhythm="waking"),
    "game": OrchardHabit(20, reach=1.2, interactions=6, replies=0.8, shares=CONVERSATION),
    "sleeper": OrchardHabit(0.5, reach=0.04, interactions=1.2, rhythm="waking"),
    "fidless imported": OrchardHabit(5, reach=0.5),
    "fidless reported": OrchardHabit(5, reach=0.5),
}


def add_life(stage: OrchardStage, agent: OrchardAgent) -> None:
    """Add the agent's casts and runs, its audience and its interactions."""
    habit = HABITS[agent.kind]
    # A listing for somebody else's account has no agent behind it.
    if agent.attack == "celebrity claim":
        habit = HABITS["sleeper"]
    started_at = stage.builder.start - DAY
    if agent.kind == "newborn":
        started_at = END - int(DAY * stage.rng.uniform(0.3, 3))
    _add_casts(stage, agent, habit, started_at)
    _add_runs(stage, agent, started_at)
    size = _draw_audience_size(stage.rng, habit.reach * _planted_factor(agent.attack))
    agent.audience = _AUDIENCES.get(agent.kind, _draw_people)(stage, agent, size)
    counts = _draw_counts(stage.rng, len(agent.audience), habit.interactions)
    agent.organic = stage.add_reactions(agent, agent.audience, counts, shares=habit.shares)
    if agent.kind == "viral":
        _add_viral_day(stage, agent, size)


def add_neighbours(stage: OrchardStage) -> None:
    """Add interactions by honest agents' accounts with agents in their community or key."""
    rng, honest = stage.rng, stage.honest
    talkative = [agent for agent in honest if agent.fid and rng.random() < 0.3]
    for agent in talkative:
        near = [
            other
            for other in honest
            if other is not agent and (other.community == agent.community or other.reporter == agent.reporter)
        ]
        for position in rng.permutation(len(near))[: rng.integers(1, 6)].tolist():
            counts = np.array([1 + rng.poisson(1.5)])
            stage.add_reactions(near[position], stage.droids.subset(np.array([agent.index])), counts)


def _add_casts(stage: OrchardStage, agent: OrchardAgent, habit: OrchardHabit, started_at: int) -> None:
    rng = stage.rng
    days = (END - started_at) / DAY
    count = max(1, int(rng.poisson(habit.daily_casts * days * rng.lognormal(0, 0.4))))
    times = started_at + (days * DAY * rng.random(count)).astype(np.int64)
    if habit.rhythm == "bursts":
        bursts = started_at + (days * DAY * rng.random(max(2, count // 8))).astype(np.int64)
        times = rng.choice(bursts, count) + rng.exponential(HOUR / 2, count).astype(np.int64)
    elif habit.rhythm == "waking":
        zone = rng.choice([5, 8, 9]) if agent.kind == "overseas" else rng.choice([-8, -5, 0, 1])
        local_hours = rng.uniform(8, 23, count) - zone
        times = (times // DAY) * DAY + (local_hours * HOUR).astype(np.int64)
    times = np.sort(np.clip(times, started_at, END - 60))
    kinds = rng.choice([POST, REPLY, QUOTE], count, p=[0.95 - habit.replies, habit.replies, 0.05])
    agent.cast_at = times
    agent.casts = stage.builder.add_casts(agent.index, times, kind=kinds, text=stage.builder.new_keys(count))


def _add_runs(stage: OrchardStage, agent: OrchardAgent, started_at: int) -> None:
    rng = stage.rng
    count = int(rng.poisson(len(agent.casts) * rng.uniform(0.5, 2)))
    finished_at = rng.integers(started_at, END, count)
    stage.builder.add_runs(agent.index, finished_at, rng.random(count) < rng.beta(12, 1.2))


def _planted_factor(attack: str) -> float:
    """Return the factor on the audience by the attack, 1 for honest agents."""
    if not attack:
        return 1
    return _CHEAP_REACH if attack in _CHEAP_ATTACKS else _PLANTED_REACH


def _draw_audience_size(rng: np.random.Generator, reach: float) -> int:
    """Return a week's account count, by heavy-tailed followers.

    The share of followers that interact falls with their number. reach: factor on the audience.
    """
    followers = 60 * (1 + rng.pareto(1.1))
    rate = 0.25 * (followers / 60) ** -0.2 * rng.lognormal(0, 0.5)
    return int(min(rng.poisson(reach * followers * min(rate, 0.6)), _LARGEST_AUDIENCE))


def _draw_counts(rng: np.random.Generator, size: int, mean: float) -> Int64Array:
    """Return each account's interactions: one for most accounts, many for a few."""
    return 1 + rng.negative_binomial(0.6, 0.6 / (mean - 0.4), size).clip(0, _MOST_INTERACTIONS)


def _add_viral_day(stage: OrchardStage, agent: OrchardAgent, size: int) -> None:
    """Add strangers that interact once with casts on one day, one spreading."""
    rng = stage.rng
    number = min(10 * size + int(rng.integers(100, 600)), _LARGEST_AUDIENCE)
    # Strangers are drawn evenly, because a shared cast reaches quiet accounts.
    crowd = stage.people.sample(rng, number, np.sqrt(stage.people.activity))
    spread = int(rng.integers(len(agent.casts)))
    delays = rng.exponential(8 * HOUR, len(crowd)).astype(np.int64) + 60
    cast = np.full(len(crowd), agent.casts[spread])
    stage.add_interactions(agent, crowd.fids, agent.cast_at[spread] + delays, cast)


def _community_weights(people: OrchardCrowd, community: int, factor: float) -> Float64Array:
    return people.activity * np.where(people.communities == community, factor, 1)


def _draw_people(stage: OrchardStage, agent: OrchardAgent, size: int) -> OrchardCrowd:
    return stage.people.sample(stage.rng, size, _community_weights(stage.people, agent.community, 15))


def _draw_villagers(stage: OrchardStage, agent: OrchardAgent, size: int) -> OrchardCrowd:
    """Return a few dozen accounts, nearly all from one community, which has other agents, too."""
    size = int(stage.rng.integers(10, 60))
    return stage.people.sample(stage.rng, size, _community_weights(stage.people, agent.community, 400))


def _draw_overseas(stage: OrchardStage, agent: OrchardAgent, size: int) -> OrchardCrowd:
    weights = _community_weights(stage.people, agent.community, 15)
    return stage.people.sample(stage.rng, size, weights * np.where(stage.people.zones >= _ASIA, 30, 1))


def _draw_experts(stage: OrchardStage, agent: OrchardAgent, size: int) -> OrchardCrowd:
    weights = _community_weights(stage.people, agent.community, 15)
    return stage.people.sample(stage.rng, size, weights * np.nan_to_num(stage.people.scores, nan=0.1) ** 4)


def _draw_players(stage: OrchardStage, agent: OrchardAgent, size: int) -> OrchardCrowd:
    """Return accounts that mostly came for the game and interact with no other agent."""
    players = register_accounts(stage.builder, round(0.7 * size), scores=(0.02, 0.6), days=(1, 400), unknown=0.15)
    return join_crowds(players, stage.people.sample(stage.rng, size - len(players)))


def _draw_relatives(stage: OrchardStage, agent: OrchardAgent, size: int) -> OrchardCrowd:
    """Return an audience that half consists of fans of the owner's other agents."""
    siblings = [
        other.audience for other in stage.agents if other.owner == agent.owner and other.audience and other is not agent
    ]
    if not siblings:
        return _draw_people(stage, agent, size)
    fans = join_crowds(*siblings)
    fans = fans.subset(np.unique(fans.fids, return_index=True)[1])
    shared = fans.sample(stage.rng, size // 2)
    weights = _community_weights(stage.people, agent.community, 15) * ~np.isin(stage.people.fids, shared.fids)
    return join_crowds(shared, stage.people.sample(stage.rng, size - len(shared), weights))


_AUDIENCES: dict[str, Callable[[OrchardStage, OrchardAgent, int], OrchardCrowd]] = {
    "village": _draw_villagers,
    "overseas": _draw_overseas,
    "specialist": _draw_experts,
    "game": _draw_players,
    "family": _draw_relatives,
}
