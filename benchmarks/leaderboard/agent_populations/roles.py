"""Agent roles: kinds, groups, and public sizes."""

from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.agent_populations.accounts import draw_zones
from benchmarks.leaderboard.agent_populations.organic import BY_DAY, IN_BURSTS, PERIODIC, Habits
from leaderboard.facts.columns import BoolArray, Float64Array, Int32Array

WEEK = 604_800
# Kind shares among honest and among planted agents.
HONEST = {
    "ordinary": 0.41, "community": 0.12, "family": 0.10, "quiet": 0.09, "scheduler": 0.08, "greeted": 0.07,
    "niche": 0.06, "airdrop": 0.05, "viral": 0.02,
}  # fmt: skip
PLANTED = {
    "ring": 0.36, "farm": 0.18, "bought bursts": 0.13, "copied texts": 0.13, "bought accounts": 0.12,
    "self-trade": 0.08,
}  # fmt: skip
PLANTED_SHARE = 0.08


@dataclass(frozen=True)
class Roles:
    """Each agent's kind, and those that belong together."""

    kinds: tuple[str, ...]
    is_planted: BoolArray
    communities: list[Int32Array]
    families: list[Int32Array]
    rings: list[Int32Array]

    def of(self, *kinds: str) -> BoolArray:
        """Return whether each agent has one of these kinds."""
        return np.isin(np.array(self.kinds), kinds)


def cast_roles(rng: np.random.Generator, *, agents: int) -> Roles:
    """Draw kinds by shares, at random places. Communities have 3 to 8 agents, families 2 to 10, rings 1 to 8."""
    planted = round(agents * PLANTED_SHARE)
    kinds = np.empty(agents, dtype=object)
    places = rng.permutation(agents).astype(np.int32)
    _share_out(kinds, places[:planted], PLANTED)
    _share_out(kinds, places[planted:], HONEST)
    is_planted = np.zeros(agents, dtype=np.bool_)
    is_planted[places[:planted]] = True

    def groups(kind: str, least: int, most: int) -> list[Int32Array]:
        mine = places[kinds[places] == kind]
        ends = np.cumsum(rng.integers(least, most + 1, size=mine.size + 1))
        return [part for part in np.split(mine, ends[ends < mine.size]) if part.size]

    return Roles(
        tuple(kinds.tolist()), is_planted, groups("community", 3, 8), groups("family", 2, 10), groups("ring", 1, 8)
    )


def _share_out(kinds: np.ndarray, places: Int32Array, shares: dict[str, float]) -> None:
    ends = np.round(np.cumsum(list(shares.values())) * places.size).astype(int)
    for kind, part in zip(shares, np.split(places, ends[:-1]), strict=True):
        kinds[part] = kind


def draw_sizes(rng: np.random.Generator, roles: Roles, *, scale: float) -> Float64Array:
    """Draw each agent's interactions in the interval, organic or not: lognormal, so that few have most.

    Half the honest have less than 42 a week, one in ten more than 270; a planted agent has some 350, as a buyer of
    a place at the top would: on its own it would be among the larger tenth.
    """
    count = len(roles.kinds)
    sizes = 42 * np.exp(1.45 * rng.standard_normal(count))
    sizes = np.where(roles.of("quiet"), rng.uniform(0, 14, size=count), sizes)
    sizes = np.where(roles.of("community"), rng.uniform(15, 160, size=count), sizes)
    sizes = np.where(roles.of("niche"), rng.uniform(35, 260, size=count), sizes)
    sizes = np.where(roles.of("viral"), np.exp(rng.uniform(np.log(250), np.log(3000), size=count)), sizes)
    sizes = np.where(roles.of("airdrop"), 2 * sizes, sizes)
    bought = np.clip(350 * np.exp(0.7 * rng.standard_normal(count)), 80, 4000)
    sizes = np.where(roles.is_planted & ~roles.of("self-trade"), bought, sizes)
    return np.where(roles.of("self-trade"), np.maximum(sizes, 30), sizes) * scale


def draw_habits(
    rng: np.random.Generator, roles: Roles, sizes: Float64Array, *, stealth: float, scale: float, lead: float
) -> Habits:
    """Draw how agents cast and are taken up; among a planted agent's interactions only the share `stealth` is organic.

    `lead` is how much longer than the interval casts are made that may be taken up in it.
    """
    count = sizes.size

    def between(low: float, high: float) -> Float64Array:
        return rng.uniform(low, high, size=count)

    def where(kind: str, value: Float64Array, other: Float64Array) -> Float64Array:
        return np.where(roles.of(kind), value, other)

    is_bought = roles.is_planted & ~roles.of("self-trade")
    organic = np.where(is_bought, stealth * sizes, sizes)
    followers = 2.2 * (organic / scale) ** 0.8 * np.exp(0.5 * rng.standard_normal(count))
    followers = np.clip(where("niche", between(12, 50), followers), 6, 60_000)
    casts = 20 * np.exp(0.8 * rng.standard_normal(count))
    casts = np.clip(where("scheduler", np.exp(between(np.log(40), np.log(300))), casts), 3, 600)
    # An agent that buys interactions for each, with few casts, would have as many as it has accounts, which shows.
    casts = np.where(is_bought, np.maximum(casts, 12 + sizes / scale / 25), casts)
    schedule = np.where(roles.of("scheduler"), PERIODIC, np.where(rng.random(count) < 0.06, PERIODIC, BY_DAY))
    schedule = np.where(roles.of("bought bursts") & (rng.random(count) < 0.7), IN_BURSTS, schedule)
    schedule = np.where(is_bought & (schedule == BY_DAY) & (rng.random(count) < 0.3), PERIODIC, schedule)
    schedule = np.where(roles.of("ordinary") & (rng.random(count) < 0.05), IN_BURSTS, schedule)
    return Habits(
        casts=np.ceil(casts * np.maximum(scale, 0.2) * lead).astype(np.int32),
        schedule=schedule.astype(np.int8),
        zone=draw_zones(rng, count),
        interactions=rng.poisson(organic * (1 + 0.5 * (lead - 1))).astype(np.int32),
        followers=followers.astype(np.int32),
        loyalty=between(1.4, 3.0),
        discovery=where("viral", between(0.7, 0.9), where("niche", between(0.0, 0.06), between(0.04, 0.3))),
        home=between(0.0, 0.9) ** 2,
        hunters=where("airdrop", between(0.4, 0.75), between(0.0, 0.08)),
        replies=where("greeted", between(0.4, 0.7), between(0.1, 0.36)),
        common=where("greeted", between(0.5, 0.85), where("airdrop", between(0.3, 0.6), between(0.1, 0.35))),
        viral=where("viral", between(0.6, 0.95), np.zeros(count)),
    )
