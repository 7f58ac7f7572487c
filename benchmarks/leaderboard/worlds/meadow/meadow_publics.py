"""Organic publics for agent kinds: about `agent.size` interactions each."""

from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.worlds.meadow.meadow_crowd import Meadow, MeadowAgent, MeadowCrowd, MeadowHabit, draw_scores
from leaderboard.facts.columns import BoolArray, Float64Array


@dataclass(frozen=True)
class MeadowPublic:
    """A public's special part: its interaction share, and ranges for distinct accounts per interaction."""

    share: tuple[float, float]
    variety: tuple[float, float]
    habit: MeadowHabit
    loyalty: float = 1.0


_USUAL = MeadowPublic((1, 1), (0.3, 0.75), MeadowHabit())
# Users send few commands; few trading programs respond to most posts; uninvited tippers and greeters watch the feed;
# a circle meets daily and talks much; people in one region respond in the agent's evening.
_SPECIAL = {
    "command bot": MeadowPublic((0.8, 1), (0.3, 0.75), MeadowHabit((0.1, 0.03, 0.82, 0.05), 4_000, 1.9, stock=0.85)),
    "price bot": MeadowPublic((0.35, 0.8), (0.03, 0.1), MeadowHabit(program_delay=6, program_spread=0.3, stock=0.5)),
    "bot magnet": MeadowPublic((0.4, 0.8), (0.3, 0.75), MeadowHabit(program_delay=7, stock=0.6), loyalty=0.2),
    "club": MeadowPublic((0.9, 1), (0.05, 0.14), MeadowHabit(delay=2_400, spread=1.4, threads=0.3, inequality=0.4)),
    "time zone": MeadowPublic((1, 1), (0.3, 0.75), MeadowHabit(delay=900, spread=1.1), loyalty=0.6),
}


def add_publics(meadow: Meadow) -> None:
    """Add all agents' organic interactions: special publics', and the rest from the usual one."""
    rng, rest = meadow.rng, np.ones(len(meadow.agents))
    for agent in meadow.agents:
        if agent.kind in _SPECIAL:
            share = rng.uniform(*_SPECIAL[agent.kind].share)
            _add_public(meadow, agent, _SPECIAL[agent.kind], share)
            rest[agent.index] -= share
        elif agent.kind == "viral" and agent.size:
            rest[agent.index] -= _go_round(meadow, agent)
    for family in [[meadow.agents[index] for index in family] for family in meadow.families]:
        # Each fan follows most of the creator's agents.
        fans = meadow.draw_audience(family[0], 3 + max(agent.size for agent in family) // 2)
        _share_public(meadow, family, fans, _USUAL.habit, rest)
    onboarding = [agent for agent in meadow.agents if agent.kind == "onboarding"]
    # Newcomers in the last days come in waves, mostly without a score.
    count = 30 + sum(agent.size for agent in onboarding) // 2
    ages = np.abs(rng.choice(rng.uniform(2, 9, 12), count) + rng.normal(0, 0.5, count)) + 0.05
    newcomers = meadow.recruit(ages, draw_scores(rng, count, 0.3, unknown=0.8))
    habit = MeadowHabit((0.45, 0.07, 0.45, 0.03), delay=5_000, spread=1.8, stock=0.3)
    _share_public(meadow, onboarding, newcomers, habit, rest)
    for agent in meadow.agents:
        _add_public(meadow, agent, _USUAL, rest[agent.index])


def _share_public(
    meadow: Meadow, agents: list[MeadowAgent], crowd: MeadowCrowd, habit: MeadowHabit, rest: Float64Array
) -> None:
    """Add a public in which each agent has a large part of the crowd, and subtract its share from the rest."""
    rng = meadow.rng
    for agent in agents:
        share = rng.uniform(0.55, 0.95)
        size = min(2 + int(0.6 * agent.size), int(0.75 * len(crowd.fids)))
        members = crowd.take(rng.permutation(np.flatnonzero(crowd.fids != agent.fid))[:size])
        meadow.engage(agent, members, round(share * agent.size), habit)
        rest[agent.index] -= share


def _add_public(meadow: Meadow, agent: MeadowAgent, public: MeadowPublic, share: float) -> None:
    rng, people = meadow.rng, meadow.people
    count = round(share * agent.size)
    among: BoolArray | bool = True
    if public is not _USUAL and agent.kind in ("price bot", "bot magnet"):
        among = people.is_program
    elif agent.kind == "time zone":
        among = (np.abs(people.offsets - agent.zone) < 2.5) & ~people.is_program
    size = 2 + int(count * rng.uniform(*public.variety))
    members = meadow.draw_audience(agent, size, among=among, loyalty=public.loyalty)
    commands = meadow.builder.new_keys(int(rng.integers(2, 12))) if agent.kind == "command bot" else None
    meadow.engage(agent, members, count, public.habit, phrases=commands)


def _go_round(meadow: Meadow, agent: MeadowAgent) -> float:
    """Add a post that went round, half among passers-by from elsewhere, and return its share."""
    rng = meadow.rng
    count = int(agent.size * rng.uniform(0.65, 0.9)) + 1
    hit = np.zeros(len(agent.cast_at))
    hit[rng.choice(np.argsort(agent.cast_at)[len(hit) // 3 : -(len(hit) // 3)])] = 1
    scores = draw_scores(rng, count // 2 + 1, 0.4, unknown=0.3)
    guests = meadow.recruit(rng.uniform(20, 1_600, len(scores)), scores)
    crowd = guests.joined(meadow.draw_audience(agent, count // 2, loyalty=0.2))
    habit = MeadowHabit((0.55, 0.22, 0.13, 0.1), delay=16_000, spread=1.4, threads=0.03, inequality=0)
    meadow.engage(agent, crowd, count, habit, cast_weights=hit)
    return min(1.0, count / agent.size)
