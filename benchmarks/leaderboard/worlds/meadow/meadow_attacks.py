"""Reach that was bought or made up with few, aged and slow accounts, and interactions that harm honest agents."""

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.leaderboard.worlds.meadow.meadow_crowd import Meadow, MeadowAgent, MeadowCrowd, MeadowHabit, draw_scores
from benchmarks.leaderboard.worlds.world import DAY, WEEK, Purpose

_SECOND_ATTACKS = ("slow drip", "rented fans", "mimicked delays", "paraphrase", "invented accounts")
_LIKES = (0.55, 0.2, 0.18, 0.07)


@dataclass(frozen=True)
class MeadowCrew:
    """A farm's or enemy's accounts: number, mean score, days since registration, way of work.

    `cover` counts interactions with honest agents for each one that is sold, `repeats` an enemy account's.
    """

    accounts: tuple[int, int]
    score: float
    ages: tuple[int, int]
    habit: MeadowHabit
    cover: float = 0.0
    repeats: float = 1.0


# Accounts with this quality are dear, so a farm has some dozens, and rests them to keep their scores.
_FARMS = {
    "slow drip": MeadowCrew(
        (25, 70), 0.72, (500, 1_600), MeadowHabit(delay=16_000, spread=1.3, threads=0, inequality=0), 0.3
    ),
    "mimicked delays": MeadowCrew((20, 60), 0.64, (300, 1_400), MeadowHabit(spread=1.35, inequality=0.6), 0.3),
    "paraphrase": MeadowCrew(
        (12, 40), 0.6, (350, 1_500), MeadowHabit((0.08, 0.04, 0.64, 0.24), 900, 1, stock=0, inequality=0.3), 0.1
    ),
    "covered farm": MeadowCrew((25, 65), 0.62, (350, 1_500), MeadowHabit(delay=2_200, spread=1.5, inequality=0.4), 1.6),
}
# An enemy does not spend aged accounts.
_ENEMIES = {
    "adjoining ids": MeadowCrew((3, 7), 0.2, (3, 12), MeadowHabit(), repeats=4),
    "same text": MeadowCrew((12, 100), 0.35, (15, 700), MeadowHabit((0, 0, 0.9, 0.1), stock=1, threads=0)),
    "burst": MeadowCrew((30, 500), 0.35, (15, 700), MeadowHabit(_LIKES, 500, 0.3, threads=0, sleeps=False)),
    "clockwork": MeadowCrew((3, 8), 0.4, (60, 900), MeadowHabit(_LIKES, 9, 0.02, threads=0, sleeps=False), repeats=15),
    "low scores": MeadowCrew((10, 500), 0.07, (15, 700), MeadowHabit(_LIKES, 3_000, threads=0), repeats=1.25),
    "devoted crowd": MeadowCrew((4, 30), 0.4, (15, 700), MeadowHabit(threads=0.2), repeats=7),
}


def add_attacks(meadow: Meadow) -> None:
    """Add the rings, and then what else was bought for the planted agents or done against the framed ones.

    One planted agent in four combines two attacks, as do half those that trade with themselves.
    """
    rng, farms = meadow.rng, dict[str, list[MeadowCrowd]]()
    crowds = [_feed_ring(meadow, [meadow.agents[index] for index in ring]) for ring in meadow.rings]
    for agent in meadow.agents:
        second = rng.choice([each for each in _SECOND_ATTACKS if each != agent.attack])
        if agent.attack == "volume wash" and rng.random() < 0.5:
            _buy(meadow, agent, second, agent.bought, farms)
        elif agent.attack == "own word":
            _praise_itself(meadow, agent)
            _buy(meadow, agent, "invented accounts", max(0, int(rng.integers(-12, 15))), farms)
        elif agent.attack and not agent.attack.endswith("ring"):
            count = round(0.35 * agent.bought) if rng.random() < 0.25 else 0
            _buy(meadow, agent, agent.attack, agent.bought - count, farms)
            _buy(meadow, agent, second, count, farms)
        elif agent.framing:
            _frame(meadow, agent, crowds[rng.integers(len(crowds))])


def _buy(meadow: Meadow, agent: MeadowAgent, attack: str, count: int, farms: dict[str, list[MeadowCrowd]]) -> None:
    """Add an attack's bought interactions."""
    rng = meadow.rng
    if attack in _FARMS and count:
        _use_farm(meadow, agent, attack, count, farms.setdefault(attack, []))
    elif attack == "rented fans":
        _rent_fans(meadow, agent, count)
    elif attack == "named accounts":
        among = np.nan_to_num(meadow.people.scores) > rng.uniform(0.55, 0.75)
        named = meadow.draw_audience(agent, max(3, int(count * rng.uniform(0.4, 0.9))), among=among)
        _report_falsely(meadow, agent, named, count)
    elif attack == "invented accounts":
        ages = rng.uniform(5, 1_500, 1 + int(count / rng.uniform(1, 2)))
        _report_falsely(meadow, agent, meadow.recruit(ages, np.full(len(ages), np.nan)), count)


def _use_farm(meadow: Meadow, agent: MeadowAgent, attack: str, count: int, farms: list[MeadowCrowd]) -> None:
    """Add the work of a farm, which has about three customers, and covers itself with honest agents.

    The cover is ORGANIC: it was not bought for the agents that receive it.
    """
    rng, farm = meadow.rng, _FARMS[attack]
    if not farms or rng.random() < 0.33:
        size = int(rng.integers(*farm.accounts))
        farms.append(meadow.recruit(rng.uniform(*farm.ages, size), draw_scores(rng, size, farm.score)))
    crowd = farms[rng.integers(len(farms))]
    team = crowd.take(rng.permutation(len(crowd.fids))[: max(5, int(len(crowd.fids) * rng.uniform(0.6, 1)))])
    meadow.engage(agent, team, count, farm.habit, purpose=Purpose.BOUGHT)
    honest = [each for each in meadow.agents if not each.attack and not each.framing and each.size > 15]
    targets = rng.permutation(len(honest))[: int(rng.integers(12, 35))]
    for target in targets:
        meadow.engage(honest[target], team, rng.poisson(count * farm.cover / len(targets)), farm.habit)


def _rent_fans(meadow: Meadow, agent: MeadowAgent, count: int) -> None:
    """Add one to three paid interactions by each of many real people, during a campaign of some days."""
    rng, people = meadow.rng, meadow.people
    # Every eighth person accepts payment.
    is_rented = (np.nan_to_num(people.scores) > 0.5) & ~people.is_program & (people.fids % 8 == 0)
    fans = rng.permutation(np.flatnonzero(is_rented))[: 3 + int(count / rng.uniform(1.2, 2.5))]
    start = meadow.builder.start + rng.uniform(-0.1, 0.6) * WEEK
    is_promoted = (agent.cast_at >= start) & (agent.cast_at < start + rng.uniform(0.3, 0.6) * WEEK)
    weights = agent.cast_weights * np.where(is_promoted, 1, 0.05)
    habit = MeadowHabit((0.42, 0.18, 0.26, 0.14), delay=6_000, spread=1.3, threads=0, inequality=0)
    meadow.engage(agent, people.take(fans), count, habit, cast_weights=weights, purpose=Purpose.BOUGHT)


def _report_falsely(meadow: Meadow, agent: MeadowAgent, crowd: MeadowCrowd, count: int) -> None:
    """Add interactions that never took place, with plausible times; mostly likes, which no text betrays."""
    habit = MeadowHabit(_LIKES, 1_800, 1.5, program_delay=1_800, program_spread=1.5, stock=0.05, threads=0)
    meadow.engage(agent, crowd, count, habit, purpose=Purpose.BOUGHT, is_confirmed=False)


def _praise_itself(meadow: Meadow, agent: MeadowAgent) -> None:
    """Add many casts and runs that almost always succeed, evenly over the week."""
    rng, builder = meadow.rng, meadow.builder
    at, runs = builder.start + rng.integers(1, WEEK, agent.bought), int(rng.integers(300, 900))
    builder.add_casts(agent.index, at, text=builder.new_keys(len(at)), purpose=Purpose.BOUGHT)
    finished_at = builder.start + rng.integers(1, WEEK, runs)
    builder.add_runs(agent.index, finished_at, rng.random(runs) < 0.997, purpose=Purpose.BOUGHT)


def _feed_ring(meadow: Meadow, ring: list[MeadowAgent]) -> MeadowCrowd:
    """Add interactions among agents and aged accounts, none feeding all agents, and return the accounts."""
    rng, people = meadow.rng, meadow.people
    accounts = int(len(ring) * rng.integers(4, 9))
    shells = meadow.recruit(rng.uniform(250, 1_400, accounts), draw_scores(rng, accounts, 0.62))
    crowd = people.take(np.isin(people.fids, [agent.fid for agent in ring])).joined(shells)
    if ring[0].attack == "cross-owner ring":
        # Owners bring real friends, who are also in others' public.
        crowd = crowd.joined(meadow.draw_audience(ring[0], 2 * len(ring), among=people.scores > 0.5))
    habit = MeadowHabit((0.35, 0.15, 0.32, 0.18), delay=5_000, program_delay=1_500, program_spread=1.3, inequality=0.5)
    for agent in ring:
        is_feeding = (rng.random(len(crowd.fids)) < rng.uniform(0.5, 0.8)) & (crowd.fids != agent.fid)
        meadow.engage(agent, crowd.take(is_feeding), agent.bought, habit, purpose=Purpose.BOUGHT)
    return crowd


def _frame(meadow: Meadow, agent: MeadowAgent, ring: MeadowCrowd) -> None:
    """Add what an enemy does, who spends little: less than the victim's own public."""
    rng, builder = meadow.rng, meadow.builder
    share = 0.15 if agent.framing == "adjoining ids" else rng.uniform(0.15, 0.45)
    count = max(5, round(agent.size * share / (1 - share)))
    weights = agent.cast_weights
    if agent.framing == "forced ring":
        crowd, habit = ring.take(ring.fids != agent.fid), MeadowHabit(delay=4_000, program_delay=1_200)
    elif agent.framing in _ENEMIES:
        enemy = _ENEMIES[agent.framing]
        size = int(np.clip(count / enemy.repeats, *enemy.accounts))
        habit = replace(enemy.habit, delay=enemy.habit.delay * rng.lognormal(0, 0.5), inequality=0)
        ages = rng.uniform(*enemy.ages, size)
        if agent.framing == "adjoining ids":
            ages = ages[0] + np.arange(size) * 100 / DAY
        crowd = meadow.recruit(ages, draw_scores(rng, size, enemy.score, unknown=0.15))
        count = int(np.clip(count, size, size * max(4, 2 * enemy.repeats)))
        if agent.framing == "burst":
            # One cast from about midweek.
            weights = np.arange(len(agent.cast_at)) == np.argmin(np.abs(agent.cast_at - builder.end + WEEK / 2))
    else:
        return
    text = builder.new_keys(1) if agent.framing == "same text" else None
    meadow.engage(agent, crowd, count, habit, cast_weights=weights, phrases=text, purpose=Purpose.FRAMING)
