"""The meadow world's accounts and agents, and how accounts interact."""

from dataclasses import dataclass, field, fields

import numpy as np

from benchmarks.leaderboard.worlds.world import DAY, END, REPLY, Purpose, WorldBuilder
from leaderboard.facts.columns import BoolArray, Float64Array, Int64Array

# Hours from UTC for a worldwide community.
ZONES = np.array([-8, -8, -5, -5, -5, -3, 0, 1, 1, 1, 2, 2, 5.5, 5.5, 7, 8, 8, 9, 10.5])
_REDRAWS = 8


@dataclass(frozen=True)
class MeadowCrowd:
    """Accounts as arrays of one length; `offsets` are hours from UTC, `blocks` a first and a second community."""

    fids: Int64Array
    registered_at: Int64Array
    scores: Float64Array
    offsets: Float64Array
    activity: Float64Array
    blocks: Int64Array
    is_program: BoolArray

    def take(self, chosen: Int64Array | BoolArray) -> "MeadowCrowd":
        """Return some accounts."""
        return MeadowCrowd(*(getattr(self, column.name)[chosen] for column in fields(self)))

    def joined(self, other: "MeadowCrowd") -> "MeadowCrowd":
        """Return both crowds' accounts."""
        pairs = ((getattr(self, column.name), getattr(other, column.name)) for column in fields(self))
        return MeadowCrowd(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True)
class MeadowHabit:
    """Way in which accounts interact. Delays are medians in seconds, spreads are of their logarithm.

    By default people write much: the community replies and quotes as often as it likes and recasts.
    `inequality` gives a few members most interactions, and without it all work equally often. `mix` has the shares for
    likes, recasts, replies and quotes, `stock` is the share for common phrases among texts, `threads` that for
    interactions that continue a discussion.
    """

    mix: tuple[float, float, float, float] = (0.36, 0.13, 0.36, 0.15)
    delay: float = 1_500
    spread: float = 1.7
    program_delay: float = 30
    program_spread: float = 0.9
    stock: float = 0.1
    threads: float = 0.12
    sleeps: bool = True
    inequality: float = 1.0


@dataclass
class MeadowAgent:
    """Agent, its planned organic and bought interaction counts, and its casts."""

    index: int
    kind: str
    attack: str
    framing: str
    fid: int
    block: int
    zone: float
    size: int
    bought: int
    cast_keys: Int64Array = field(default_factory=lambda: np.empty(0, np.int64))
    cast_at: Int64Array = field(default_factory=lambda: np.empty(0, np.int64))
    cast_weights: Float64Array = field(default_factory=lambda: np.empty(0))


@dataclass
class Meadow:
    """Builder, the community (agents' own accounts included), its phrases, and agents' indices in groups."""

    builder: WorldBuilder
    rng: np.random.Generator
    stealth: float
    phrases: Int64Array
    people: MeadowCrowd = field(init=False)
    agents: list[MeadowAgent] = field(default_factory=list)
    families: list[list[int]] = field(default_factory=list)
    rings: list[list[int]] = field(default_factory=list)

    def recruit(
        self, ages: Float64Array, scores: Float64Array, blocks: int = 1, is_program: bool = False
    ) -> MeadowCrowd:
        """Add accounts registered `ages` days before the end; a few blocks are much larger than the others."""
        rng, count = self.rng, len(ages)
        shares = 1 / np.arange(2.0, blocks + 2)
        registered_at = (END - ages * DAY).astype(np.int64)
        fids = self.builder.add_accounts(registered_at, scores)
        # People in a zone rise early or late.
        offsets, activity = rng.choice(ZONES, count) + rng.normal(0, 1.3, count), rng.lognormal(0, 1.2, count)
        chosen = rng.choice(blocks, (count, 2), p=shares / shares.sum())
        return MeadowCrowd(fids, registered_at, scores, offsets, activity, chosen, np.full(count, is_program))

    def draw_audience(
        self, agent: MeadowAgent, count: int, *, among: BoolArray | bool = True, loyalty: float = 1.0
    ) -> MeadowCrowd:
        """Draw distinct accounts from the community; a `loyalty` of 0 draws from all blocks alike."""
        people = self.people
        is_first, is_second = (people.blocks == agent.block).T
        distances = np.where(is_first, 0, np.where(is_second, 0.7, 3))
        weights = people.activity * np.exp(-loyalty * distances) * (people.fids != agent.fid) * among
        keys = self.rng.exponential(size=len(weights)) / np.maximum(weights, 1e-12)
        return people.take(np.argsort(keys)[: min(count, np.count_nonzero(weights))])

    def engage(
        self,
        agent: MeadowAgent,
        crowd: MeadowCrowd,
        count: int,
        habit: MeadowHabit,
        *,
        cast_weights: Float64Array | None = None,
        phrases: Int64Array | None = None,
        purpose: Purpose = Purpose.ORGANIC,
        is_confirmed: bool = True,
    ) -> None:
        """Add some of the crowd's interactions with the agent's casts."""
        rng, actors = self.rng, _draw_actors(self.rng, crowd, count, habit.inequality)
        fids, count = actors.fids, len(actors.fids)
        followers = int(habit.threads * count)
        chosen, at = self._respond(agent, actors, habit, cast_weights)
        kinds = rng.choice(4, count, p=habit.mix) + 1
        if followers:
            # The last ones continue others' discussions.
            sources = np.append(np.arange(count - followers), rng.integers(0, count - followers, followers))
            fids, chosen, at = fids[sources], chosen[sources], at[sources]
            at[-followers:] += np.ceil(rng.lognormal(np.log(420), 1.2, followers)).astype(np.int64)
            kinds[-followers:] = REPLY
        common = self.phrases if phrases is None else phrases
        # The first phrases are much more popular than the others.
        places = np.floor(len(common) * rng.random(count) ** 2.2).astype(np.int64)
        texts = np.where(rng.random(count) < habit.stock, common[places], self.builder.new_keys(count))
        texts, casts = np.where(kinds >= REPLY, texts, 0), agent.cast_keys[chosen]
        self.builder.add_interactions(
            agent.index, casts, fids, at, kind=kinds, text=texts, purpose=purpose, is_confirmed=is_confirmed
        )

    def _respond(
        self, agent: MeadowAgent, actors: MeadowCrowd, habit: MeadowHabit, cast_weights: Float64Array | None
    ) -> tuple[Int64Array, Int64Array]:
        """Draw each interaction's cast and time, again for those outside the interval or before registration."""
        rng, is_program = self.rng, actors.is_program
        count = len(is_program)
        weights = agent.cast_weights if cast_weights is None else cast_weights
        chosen, at = np.zeros(count, np.int64), np.zeros(count, np.int64)
        medians = np.where(is_program, habit.program_delay, habit.delay)
        spreads = np.where(is_program, habit.program_spread, habit.spread)
        earliest = np.maximum(actors.registered_at, self.builder.start)
        for _ in range(_REDRAWS):
            is_outside = (at <= earliest) | (at > self.builder.end)
            if not is_outside.any():
                break
            redrawn = rng.choice(len(weights), count, p=weights / weights.sum())
            delays = np.ceil(medians * np.exp(spreads * rng.standard_normal(count))).astype(np.int64)
            times = agent.cast_at[redrawn] + delays
            if habit.sleeps:
                times = np.where(is_program, times, shift_to_waking(rng, times, actors.offsets))
            chosen, at = np.where(is_outside, redrawn, chosen), np.where(is_outside, times, at)
        # The builder leaves out time 0.
        return chosen, np.where(at > earliest, at, 0)


def draw_scores(rng: np.random.Generator, count: int, mean: float, unknown: float = 0.0) -> Float64Array:
    """Draw social scores around a mean, a share being unknown."""
    return np.where(rng.random(count) < unknown, np.nan, rng.beta(9 * mean, 9 * (1 - mean), count))


def shift_to_waking(rng: np.random.Generator, at: Int64Array, offsets: Float64Array) -> Int64Array:
    """Return times with night times moved to the morning, except for the sleepless eighth."""
    hours = (at / 3_600 + offsets) % 24
    waits = np.where((hours < 7) & (rng.random(len(at)) > 0.12), 7 - hours + rng.exponential(1.2, len(at)), 0)
    return at + (waits * 3_600).astype(np.int64)


def _draw_actors(rng: np.random.Generator, crowd: MeadowCrowd, count: int, inequality: float) -> MeadowCrowd:
    """Return each interaction's account."""
    size = len(crowd.fids)
    if not size:
        return crowd
    if not inequality:
        return crowd.take(np.concatenate([rng.permutation(size) for _ in range(count // size + 1)])[:count])
    weights = rng.lognormal(0, inequality, size)
    return crowd.take(rng.choice(size, count, p=weights / weights.sum()))
