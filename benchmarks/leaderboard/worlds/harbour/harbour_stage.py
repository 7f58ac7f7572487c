"""Harbour's accounts with their habits and daily rhythm, and their interactions."""

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from benchmarks.leaderboard.worlds.world import DAY, END, RECAST, Purpose, WorldBuilder
from leaderboard.facts.columns import BoolArray, Float64Array, Int64Array

from .harbour_plan import HarbourAgent

HOUR = 3_600
# Local time minus UTC for London and New York in winter.
_ZONES = (0, -5 * HOUR)
# Probability to be at the screen, by the local hour.
_WAKING = np.array([0.25, 0.1, 0.05, 0.03, 0.03, 0.08, 0.3, 0.6, 0.8] + 9 * [0.92] + 3 * [1.0] + [0.95, 0.8, 0.5])
_MORNING = 7 * HOUR
Shares = tuple[float, float, float, float]
# Shares for likes, recasts, replies and quotes.
MOSTLY_LIKES: Shares = (0.84, 0.07, 0.075, 0.015)
REPLIES: Shares = (0.0, 0.0, 1.0, 0.0)


@dataclass(frozen=True)
class HarbourCrowd:
    """Accounts, one per array place."""

    fids: Int64Array
    scores: Float64Array
    registered_at: Int64Array
    # Relative interaction frequency: few accounts make most.
    weights: Float64Array
    offsets: Int64Array
    # Typical response delay, seconds.
    paces: Float64Array

    def __len__(self) -> int:
        return len(self.fids)

    def part(self, chosen: Int64Array | BoolArray) -> "HarbourCrowd":
        """Return the chosen accounts."""
        return HarbourCrowd(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def pick(self, rng: np.random.Generator, count: int) -> "HarbourCrowd":
        """Return up to `count` distinct accounts, drawn by weight."""
        if count >= len(self):
            return self
        return self.part(np.argsort(rng.exponential(size=len(self)) / self.weights)[:count])


def join_crowds(*crowds: HarbourCrowd) -> HarbourCrowd:
    """Return all crowds' accounts."""
    return HarbourCrowd(
        *(np.concatenate([getattr(each, field.name) for each in crowds]) for field in fields(HarbourCrowd))
    )


def register_crowd(
    builder: WorldBuilder,
    days: Float64Array,
    beta: tuple[float, float],
    *,
    unknown: float | Float64Array,
    pace: float = 2_400,
) -> HarbourCrowd:
    """Add accounts by their ages in days, the score distribution, and the probability that a score is unknown."""
    rng, count = builder.rng, len(days)
    registered_at = (END - days * DAY).astype(np.int64)
    scores = np.where(rng.random(count) < unknown, np.nan, rng.beta(*beta, count))
    fids = builder.add_accounts(registered_at, scores)
    # This draw chose the known registrations, which no score reads. Without it the world would be another one.
    rng.random(count)
    weights, offsets = 1 + rng.pareto(1.3, count), rng.choice(_ZONES, count, p=(0.45, 0.55))
    return HarbourCrowd(fids, scores, registered_at, weights, offsets, rng.lognormal(np.log(pace), 1.0, count))


def human_times(builder: WorldBuilder, crowd: HarbourCrowd, cast_at: Int64Array) -> Int64Array:
    """Return response times: a skewed delay, and what is seen at night waits for the morning."""
    rng, count = builder.rng, len(crowd)
    at = cast_at + (crowd.paces * rng.lognormal(0, 1.1, count)).astype(np.int64)
    at = np.maximum(at, crowd.registered_at + rng.exponential(2 * HOUR, count).astype(np.int64))
    local = (at + crowd.offsets) % DAY
    is_away = rng.random(count) > _WAKING[local // HOUR]
    wait = rng.exponential(1.5 * HOUR, count) + np.maximum(_MORNING - local, 0)
    return at + np.where(is_away, wait, 0).astype(np.int64)


@dataclass(frozen=True)
class HarbourTerms:
    """Manner in which accounts interact."""

    purpose: Purpose = Purpose.ORGANIC
    # Response times for casts.
    timing: Callable[[WorldBuilder, HarbourCrowd, Int64Array], Int64Array] = human_times
    # Interactions per account; more if the accounts are too few.
    repeats: float = 2.0
    shares: Shares = MOSTLY_LIKES
    # Text share from `stock`, or from the platform's phrases; the others are unique.
    stock_share: float = 0.2
    stock: Int64Array | None = None
    is_confirmed: bool = True
    is_one_cast: bool = False


class HarbourStage:
    """Builder, agents and accounts on the platform."""

    def __init__(self, builder: WorldBuilder, agents: list[HarbourAgent]) -> None:
        rng, count = builder.rng, len(agents)
        self.builder, self.rng, self.agents = builder, rng, agents
        # Growth: half the people are younger than four months, and scores follow months later.
        days = np.clip(rng.exponential(160, 30 * count), 8, 1_650)
        self.public = register_crowd(builder, days, (2.2, 2.6), unknown=0.8 - 0.5 * np.minimum(days / 200, 1))
        days = rng.uniform(0.5, 10, 4 * count)
        self.newcomers = register_crowd(builder, days, (1.2, 6), unknown=0.92, pace=4_000)
        # Programs respond to whatever is popular, within seconds.
        self.programs = register_crowd(builder, rng.uniform(10, 700, count // 2), (1.5, 4), unknown=0.55, pace=7)
        self.droids = register_crowd(builder, rng.uniform(9, 250, count), (2, 3), unknown=0.5, pace=600)
        # "gm", "nice", "lfg" and the like; users' commands; programs' templates; people's wallets.
        self.phrases, self.commands, self.templates, self.wallets = map(builder.new_keys, (30, 12, 50, 8 * count))
        # Owner -> public that the owner's agents share.
        self.family_publics: dict[int, HarbourCrowd] = {}
        # Each ring's accounts, its agents included.
        self.rings: list[HarbourCrowd] = []

    def add_rows(
        self, agent: HarbourAgent, crowd: HarbourCrowd, chosen: Int64Array, at: Int64Array, terms: HarbourTerms
    ) -> int:
        """Add one interaction per place in `crowd` with the casts at `chosen`, and return how many count."""
        builder, count = self.builder, len(crowd)
        kinds = self.rng.choice(4, count, p=terms.shares) + 1
        stock = self.phrases if terms.stock is None else terms.stock
        usual = stock[np.minimum(self.rng.geometric(0.3, count) - 1, len(stock) - 1)]
        texts = np.where(self.rng.random(count) < terms.stock_share, usual, builder.new_keys(count))
        # An account likes or recasts a cast once.
        codes = np.where(kinds <= RECAST, (crowd.fids * 4_096 + chosen) * 4 + kinds, -1 - np.arange(count))
        kept = np.unique(codes, return_index=True)[1]
        kept = kept[(at[kept] > builder.start) & (at[kept] <= builder.end)]
        rows = agent.casts[chosen[kept]], crowd.fids[kept], at[kept]
        kinds, texts = kinds[kept], np.where(kinds > RECAST, texts, 0)[kept]
        purpose, is_confirmed = terms.purpose, terms.is_confirmed
        builder.add_interactions(agent.index, *rows, kind=kinds, text=texts, purpose=purpose, is_confirmed=is_confirmed)
        return len(kept)

    def send(self, agent: HarbourAgent, crowd: HarbourCrowd, count: int, terms: HarbourTerms) -> None:
        """Add up to `count` interactions, each of another account and cast in the interval."""
        rng, end = self.rng, self.builder.end
        targets = np.flatnonzero(agent.cast_at > self.builder.start)
        if terms.is_one_cast:
            targets = rng.permutation(targets)[:1]
        if not len(targets) or not len(crowd) or count <= 0:
            return
        size = int(np.ceil(max(count / terms.repeats, count / len(targets))))
        senders = crowd.part(rng.permutation(len(crowd))[:size])
        pairs = len(senders) * len(targets)
        actor, target = np.divmod(rng.choice(pairs, min(count, pairs), replace=False), len(targets))
        actors, chosen = senders.part(actor), targets[target]
        cast_at = agent.cast_at[chosen]
        at = terms.timing(self.builder, actors, cast_at)
        # What would be too late is done at any earlier time.
        sooner = cast_at + (rng.random(len(at)) * (end - cast_at)).astype(np.int64) + 1
        self.add_rows(agent, actors, chosen, np.where(at > end, sooner, at), terms)
