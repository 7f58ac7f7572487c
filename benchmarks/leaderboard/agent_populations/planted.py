"""Interactions that agents have made or bought: rings, farms, bursts, copied texts, bought accounts.

How careful a group is differs, in each of five respects by itself, from a script in its first version to a person who
has read how such things are found.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.agent_populations.accounts import DAY, Pool, Registry, draw_farm, draw_weighted, wake
from benchmarks.leaderboard.agent_populations.organic import COMMON, Casts, Habits, choose_casts
from benchmarks.leaderboard.agent_populations.roles import Roles
from benchmarks.leaderboard.agent_populations.rows import RECAST, Pairs, StoredInteractions, confirmed_rows, draw_keys
from leaderboard.facts.columns import Float64Array, Int8Array, Int32Array, Int64Array

# Mean reply shares that a group has its accounts write.
_REPLIES = {"copied texts": (0.55, 0.95), "bought accounts": (0.1, 0.4)}
_USUAL_REPLIES = (0.05, 0.5)


@dataclass(frozen=True)
class Plot:
    """One group: its agents, the accounts that serve them, and how careful it is, from 0 to 1 each."""

    kind: str
    members: Int32Array
    farm: Pool
    # Time between a cast and what is made for it.
    spread: float
    # How far accounts take turns instead of taking up everything.
    rotation: float
    # How far texts differ.
    variety: float
    # How far accounts, and casts, differ in how much they are used.
    skew: float
    # How much accounts do elsewhere.
    camouflage: float


def plot(rng: np.random.Generator, registry: Registry, roles: Roles) -> list[Plot]:
    """Return all groups: rings as they were cast, every other planted agent by itself."""
    alone = np.flatnonzero(roles.is_planted & ~roles.of("ring", "self-trade")).astype(np.int32)
    groups = [("ring", ring) for ring in roles.rings] + [
        (roles.kinds[one], np.array([one], dtype=np.int32)) for one in alone.tolist()
    ]
    return [_plot(rng, registry, kind, members) for kind, members in groups]


def _plot(rng: np.random.Generator, registry: Registry, kind: str, members: Int32Array) -> Plot:
    care = np.clip(0.5 * rng.random() + 0.5 * rng.random(6), 0, 1)
    most = {"bought bursts": 120, "copied texts": 90}.get(kind, 60)
    count = int(rng.integers(8, most + 1))
    zone = int(rng.choice([-5, 1, 3, 5, 7, 8]))
    if kind == "bought accounts":
        farm = draw_farm(
            rng, registry, count=max(count, 12), days=(90, 700), lots=6, scores=(0.45, 0.92), unknown=0.12, zone=zone
        )
    else:
        age = 2 + 120 * care[0] ** 2
        farm = draw_farm(
            rng, registry, count=count, days=(age, 6 * age), lots=1 + int(3 * care[0]),
            scores=(0.02, 0.2 + 0.45 * care[0]), unknown=0.5 - 0.3 * care[0], zone=zone,
        )  # fmt: skip
    spread, rotation, variety, skew, camouflage = care[1:].tolist()
    return Plot(kind, members, farm, spread, rotation, variety, skew, camouflage)


def camouflage(rng: np.random.Generator, plots: list[Plot], sizes: Float64Array, *, stealth: float) -> Pairs:
    """Draw what farms' accounts do at uninvolved agents, so as not to serve one master only."""
    parts = []
    for one in plots:
        most = 0.5 if one.kind == "bought accounts" else 0.3
        count = rng.poisson(most * one.camouflage * (1 - stealth) * sizes[one.members].sum())
        who = rng.integers(0, one.farm.fids.size, size=count)
        parts.append(Pairs(draw_weighted(rng, sizes, count), one.farm.fids[who], one.farm.zone[who]))
    return Pairs.together(parts)


def serve(
    rng: np.random.Generator,
    one: Plot,
    casts: Casts,
    habits: Habits,
    fids: Int64Array,
    wanted: Float64Array,
    *,
    begin: int,
    end: int,
) -> StoredInteractions:
    """Draw interactions for a group's agents: `wanted` for each, in its members' order."""
    # Some is lost: likes given twice, and what would be after the end.
    counts = rng.poisson(1.15 * wanted)
    agent = np.repeat(one.members, counts)
    actor, zone, turn = _draw_actors(rng, one, habits, fids, agent)
    chosen = _draw_casts(rng, one, casts, agent, turn, begin=begin, end=end)
    at = _draw_times(rng, one, casts.at[chosen], zone, agent)
    low, high = _REPLIES.get(one.kind, _USUAL_REPLIES)
    # Among the rest two in three are likes.
    kind = np.where(
        rng.random(agent.size) < rng.uniform(low, high), 3, 1 + (rng.random(agent.size) < 0.33).astype(np.int8)
    ).astype(np.int8)
    text = _draw_texts(rng, one, kind)
    kept = actor != fids[agent]
    return confirmed_rows(agent[kept], at[kept], kind[kept], actor[kept], casts.key[chosen[kept]], text[kept])


def _draw_actors(
    rng: np.random.Generator, one: Plot, habits: Habits, fids: Int64Array, agent: Int32Array
) -> tuple[Int64Array, Int8Array, Float64Array]:
    """Draw actors, their zones, and their turns in the interval (0 to 1): accounts, and in rings the agents."""
    weights = np.exp((0.1 + 0.9 * one.skew) * rng.standard_normal(one.farm.fids.size))
    who = draw_weighted(rng, weights, agent.size)
    # Each account is used for a part of the interval only, the shorter the more they take turns.
    length = 1 - 0.8 * one.rotation * rng.random(one.farm.fids.size)
    first = rng.random(one.farm.fids.size) * (1 - length)
    turn = first[who] + rng.random(agent.size) * length[who]
    actor, zone = one.farm.fids[who], one.farm.zone[who]
    members = one.members[fids[one.members] != 0]
    if one.kind == "ring" and members.size > 1:
        mutual = rng.random(agent.size) < rng.uniform(0.08, 0.35)
        other = rng.choice(members, size=agent.size)
        actor, zone = np.where(mutual, fids[other], actor), np.where(mutual, habits.zone[other], zone)
    return actor, zone, turn


def _draw_casts(
    rng: np.random.Generator, one: Plot, casts: Casts, agent: Int32Array, turn: Float64Array, *, begin: int, end: int
) -> Int64Array:
    """Draw for each the agent's cast that is nearest to its turn, or one by how much casts are taken up anyway."""
    chosen = np.empty(agent.size, dtype=np.int64)
    for member in one.members.tolist():
        mine = np.arange(casts.first[member], casts.first[member + 1])
        by_time = mine[np.argsort(casts.at[mine])]
        due = np.flatnonzero(agent == member)
        place = np.searchsorted(casts.at[by_time], begin + turn[due] * (end - begin))
        chosen[due] = by_time[np.clip(place - rng.integers(0, 2, size=due.size), 0, mine.size - 1)]
    anyway = np.flatnonzero(rng.random(agent.size) < 0.5 * one.skew)
    chosen[anyway] = choose_casts(rng, casts, agent[anyway])
    return chosen


def _draw_times(
    rng: np.random.Generator, one: Plot, cast_at: Int64Array, zone: Int8Array, agent: Int32Array
) -> Int64Array:
    """Draw times: after the cast by a pause that grows from seconds to hours with care; or in few deliveries."""
    median = np.exp(np.interp(one.spread, [0, 1], np.log([25, 6000])))
    sigma = 0.4 + 1.1 * one.spread

    def pause(count: int) -> Int64Array:
        return np.clip(median * np.exp(sigma * rng.standard_normal(count)), 1, 3 * DAY).astype(np.int64)

    at = cast_at + pause(cast_at.size)
    if one.kind == "bought bursts":
        return _deliver(rng, one, at, agent)
    for _ in range(round(3 * one.spread)):
        again = np.flatnonzero(~wake(rng, at, zone))
        at[again] = cast_at[again] + pause(again.size)
    return at


def _deliver(rng: np.random.Generator, one: Plot, at: Int64Array, agent: Int32Array) -> Int64Array:
    """Gather times into deliveries of some forty to a hundred, each over one minute to 45 minutes."""
    order = np.lexsort((at, agent))
    size = int(rng.integers(40, 101))
    lasts = np.exp(rng.uniform(np.log(60), np.log(300 + 2400 * one.spread)))
    found = at.copy()
    for first in range(0, order.size, size):
        part = order[first : first + size]
        # It comes after most casts that it is for.
        start = int(np.quantile(at[part], 0.9))
        found[part] = np.maximum(at[part], start) + (rng.random(part.size) * lasts).astype(np.int64)
    return found


def _draw_texts(rng: np.random.Generator, one: Plot, kind: Int8Array) -> Int64Array:
    """Draw text keys: from a stock of a few up to hundreds; the most varied groups write some anew each time."""
    copied = one.kind == "copied texts"
    most = 40 if copied else 400
    stock = draw_keys(rng, 2 + int(np.exp(np.log(most) * one.variety)))
    # Some texts in a stock are common texts.
    stock[rng.random(stock.size) < 0.25] = rng.choice(COMMON)
    text = rng.choice(stock, size=kind.size)
    anew = rng.random(kind.size) < max(0.0, one.variety - (0.55 if copied else 0.3))
    text[anew] = draw_keys(rng, int(anew.sum()))
    text[kind <= RECAST] = 0
    return text
