"""Honest life for Harbour's agents: casts, runs and their publics' interactions."""

from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.worlds.world import DAY, POST, QUOTE, REPLY
from leaderboard.facts.columns import Int64Array

from .harbour_plan import HarbourAgent
from .harbour_stage import HOUR, MOSTLY_LIKES, HarbourStage, HarbourTerms, Shares, human_times, join_crowds

# Public sizes follow Zipf's law between these bounds; some agents have none.
_LEAST, _MOST, _DORMANT = 11, 4_500, 0.08
_LEAST_PLANTED, _MOST_PLANTED, _LEAST_FRAMED = 20, 1_500, 90


@dataclass(frozen=True)
class HarbourHabit:
    """A public kind's behaviour."""

    scale: float = 1.0
    per_fan: float = 1.6
    # Programs' mean share in the interactions, and how many programs.
    programs: float = 0.06
    program_count: int = 8
    newcomers: float = 0.08
    shares: Shares = MOSTLY_LIKES
    stock_share: float = 0.2
    median_casts: float = 14.0


_HABITS = {
    "command bot": HarbourHabit(
        scale=1.4, per_fan=3.0, shares=(0.2, 0.03, 0.75, 0.02), stock_share=0.75, median_casts=40
    ),
    "price bot": HarbourHabit(per_fan=2.5, programs=0.6, program_count=4),
    "bot magnet": HarbourHabit(scale=2.0, programs=0.55, program_count=40, median_casts=25),
    "club": HarbourHabit(per_fan=9.0, programs=0.0, newcomers=0.0, shares=(0.6, 0.07, 0.3, 0.03), median_casts=35),
    "viral": HarbourHabit(scale=12.0, per_fan=1.05, newcomers=0.15, shares=(0.78, 0.14, 0.06, 0.02), median_casts=9),
    "onboarding": HarbourHabit(scale=2.0, per_fan=1.8, newcomers=0.8, shares=(0.7, 0.05, 0.24, 0.01), median_casts=20),
    "family": HarbourHabit(scale=1.3, per_fan=2.2, median_casts=20),
    "time zone": HarbourHabit(scale=1.2, per_fan=2.0, programs=0.0),
}


def add_life(stage: HarbourStage, agent: HarbourAgent) -> None:
    """Add casts, runs and an agent's organic interactions."""
    rng, habit = stage.rng, _HABITS.get(agent.kind, HarbourHabit())
    _add_casts(stage, agent, habit)
    runs = int(min(rng.lognormal(np.log(45), 1.2), 3_000))
    finished_at = rng.integers(stage.builder.start, stage.builder.end, runs)
    stage.builder.add_runs(agent.index, finished_at, rng.random(runs) < rng.beta(14, 1.6))
    volume = _draw_volume(stage, agent, habit)
    automatic = int(rng.binomial(volume, min(habit.programs * rng.gamma(4, 0.25), 0.9)))
    if agent.kind == "family" and volume:
        _add_siblings(stage, agent)
    if volume > automatic:
        agent.organic += _add_people(stage, agent, habit, volume - automatic)
    if automatic:
        agent.organic += _add_programs(stage, agent, habit, automatic)


def _add_siblings(stage: HarbourStage, agent: HarbourAgent) -> None:
    """Add the few interactions that an owner's agents give each other in public."""
    others = [each.index for each in stage.agents if each.owner == agent.owner and each is not agent]
    stage.send(agent, stage.droids.part(np.array(others)), int(stage.rng.integers(0, 6)), HarbourTerms())


def _draw_volume(stage: HarbourStage, agent: HarbourAgent, habit: HarbourHabit) -> int:
    rng = stage.rng
    size = min(_LEAST / (1 - rng.random()), _MOST) * habit.scale * rng.lognormal(-0.3, 0.7)
    volume = int(rng.integers(50, 260)) if agent.kind == "club" else int(min(size, _MOST))
    if agent.attack:
        return 0 if agent.attack == "own word" else int(np.clip(volume, _LEAST_PLANTED, _MOST_PLANTED))
    if agent.framing:
        return max(volume, _LEAST_FRAMED)
    return 0 if rng.random() < _DORMANT else volume


def _add_casts(stage: HarbourStage, agent: HarbourAgent, habit: HarbourHabit) -> None:
    """Add casts for nine days: by the clock, spread evenly, or in the owner's working hours."""
    rng, start, end = stage.rng, stage.builder.start - 2 * DAY, stage.builder.end
    least = 18 if agent.attack or agent.framing else 2
    count = int(np.clip(rng.lognormal(np.log(habit.median_casts), 0.9), least, 500))
    if agent.kind == "price bot":
        at = np.arange(start, end, int(rng.choice((HOUR // 2, HOUR, 2 * HOUR, 4 * HOUR))))
        at = at + rng.integers(0, 4, len(at))
    elif rng.random() < 0.4:
        at = start + ((np.arange(count) + rng.beta(3, 3, count)) * (end - start) / count).astype(np.int64)
    else:
        hours = rng.choice((13, 18)) + rng.normal(0, 3.5, count)
        at = start + rng.integers(0, 9, count) * DAY + (hours % 24 * HOUR).astype(np.int64)
    kinds = rng.choice((POST, REPLY, QUOTE), len(at), p=(0.75, 0.2, 0.05))
    agent.cast_at = at
    agent.casts = stage.builder.add_casts(agent.index, at, kind=kinds, text=stage.builder.new_keys(len(at)))
    attention = rng.lognormal(0, 1.0, len(at))
    if agent.kind == "viral":
        attention[np.argmin(abs(at - end + rng.uniform(1, 6) * DAY))] = 6 * attention.sum()
    agent.popularity = attention / attention.sum()


def _add_people(stage: HarbourStage, agent: HarbourAgent, habit: HarbourHabit, count: int) -> int:
    rng, size = stage.rng, int(np.ceil(count / habit.per_fan))
    fresh = int(rng.binomial(size, habit.newcomers))
    people = stage.public.pick(rng, max(size - fresh, 1))
    if agent.kind == "family":
        shared = stage.family_publics.setdefault(agent.owner, stage.public.pick(rng, 150 + 2 * size))
        people = join_crowds(shared.pick(rng, size // 2), people.part(np.arange(len(people) // 2, len(people))))
    fans = join_crowds(people, stage.newcomers.pick(rng, fresh))
    # Faithful circles come back alike; elsewhere a few fans make much engagement.
    devotion = rng.gamma(4, 1, len(fans)) if agent.kind == "club" else 1 + rng.pareto(1.5, len(fans))
    actors = fans.part(rng.choice(len(fans), count, p=devotion / devotion.sum()))
    chosen = rng.choice(len(agent.casts), count, p=agent.popularity)
    at = human_times(stage.builder, actors, agent.cast_at[chosen])
    if agent.kind == "time zone":
        at = _to_region_hours(stage, at)
    # An agent's users know a few commands; other publics share the platform's phrases.
    stock = rng.permutation(stage.commands)[:5] if agent.kind == "command bot" else None
    terms = HarbourTerms(shares=habit.shares, stock=stock, stock_share=habit.stock_share)
    return stage.add_rows(agent, actors, chosen, at, terms)


def _to_region_hours(stage: HarbourStage, at: Int64Array) -> Int64Array:
    """Delay times to a region's next evening; its hour in UTC is random."""
    length = 4 * HOUR
    since = (at - int(stage.rng.integers(24)) * HOUR) % DAY
    evening = at - since + DAY + (stage.rng.beta(2, 2.5, len(at)) * length).astype(np.int64)
    return np.where(since < length, at, evening)


def _add_programs(stage: HarbourStage, agent: HarbourAgent, habit: HarbourHabit, count: int) -> int:
    rng = stage.rng
    programs = stage.programs.pick(rng, 1 + rng.poisson(max(habit.program_count, 1.5 * count / len(agent.casts))))
    actors = programs.part(rng.integers(0, len(programs), count))
    chosen = rng.integers(0, len(agent.casts), count)
    # The program's delay and its polling jitter.
    at = agent.cast_at[chosen] + (actors.paces * rng.lognormal(0, 0.2, count)).astype(np.int64) + 1
    terms = HarbourTerms(shares=(0.7, 0.1, 0.2, 0.0), stock=rng.permutation(stage.templates), stock_share=0.8)
    return stage.add_rows(agent, actors, chosen, at, terms)
