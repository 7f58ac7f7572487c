"""The bazaar's accounts with their habits: people and traders, programs, and farms' accounts."""

from dataclasses import dataclass, fields

import numpy as np

from benchmarks.leaderboard.worlds.world import DAY, END, WorldBuilder
from leaderboard.facts.columns import BoolArray, Float64Array, Int64Array

# Hours east of UTC, and shares: much token trading is Asian and American.
_ZONES, _ZONE_SHARES = np.array([-8, -5, 1, 5, 8]), [0.18, 0.27, 0.23, 0.1, 0.22]
# Token circles; an account follows one.
CIRCLES = 12


@dataclass(frozen=True)
class BazaarCrowd:
    """Accounts, one row per interaction or account. Zones are hours from UTC, `haste` is a factor on delays."""

    fids: Int64Array
    scores: Float64Array
    zones: Int64Array
    haste: Float64Array
    # Relative interaction frequency, with a heavy tail.
    weights: Float64Array

    def __len__(self) -> int:
        return len(self.fids)

    def take(self, rows: BoolArray | Int64Array) -> "BazaarCrowd":
        """Return these rows."""
        return BazaarCrowd(*(getattr(self, field.name)[rows] for field in fields(self)))

    def sample(self, rng: np.random.Generator, count: int, circle: int = -1, zone: int | None = None) -> "BazaarCrowd":
        """Return distinct accounts, at most half; active ones, and those in the circle or zone, are likelier."""
        is_near = (self.fids % CIRCLES == circle) | (self.zones == zone)
        weights = self.weights * np.where(is_near, 10 if zone is None else 1e4, 1)
        count = min(count, (len(self) + 1) // 2)
        return self.take(rng.choice(len(self), count, replace=False, p=weights / weights.sum()))

    def repeat(self, rng: np.random.Generator, count: int, tail: float = 0.2) -> "BazaarCrowd":
        """Return `count` rows, in which accounts recur by a power law with exponent `tail`; 0 is even."""
        shares = np.arange(1, len(self) + 1) ** -tail
        return self.take(rng.choice(len(self), count, p=shares / shares.sum()) if count else np.zeros(0, np.int64))

    def join(self, other: "BazaarCrowd") -> "BazaarCrowd":
        """Return the rows of both."""
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return BazaarCrowd(*map(np.concatenate, pairs))


def draw_scores(rng: np.random.Generator, count: int, mean: float, *, unknown: float = 0.33) -> Float64Array:
    """Return scores around a mean (bots have 0.1, people 0.6), a share of them unknown."""
    return np.where(rng.random(count) < unknown, np.nan, rng.beta(16 * mean, 16 * (1 - mean), count))


def registrations(rng: np.random.Generator, count: int, newest: float, oldest: float, *, batch: int = 1) -> Int64Array:
    """Return registration times in a range of days before the end; farms make batches, minutes apart."""
    times = np.repeat(END - rng.uniform(newest, oldest, count // batch + 1) * DAY, batch)[:count]
    return np.asarray(times + rng.uniform(0, 60 * batch, count), np.int64)


def enroll(builder: WorldBuilder, registered_at: Int64Array, scores: Float64Array, *, haste: float = 1) -> BazaarCrowd:
    """Add accounts; `haste` is the median factor on their delays."""
    rng, count = builder.rng, len(scores)
    # This draw chose the known registrations, which no score reads. Without it the world would be another one.
    rng.random(count)
    return BazaarCrowd(
        fids=builder.add_accounts(registered_at, scores),
        scores=scores,
        zones=rng.choice(_ZONES, count, p=_ZONE_SHARES),
        haste=haste * rng.lognormal(0, 0.8, count),
        weights=0.2 + rng.pareto(1.4, count).clip(0, 80),
    )


def enroll_people(builder: WorldBuilder, count: int) -> BazaarCrowd:
    """Add people and traders. The network grew late, and one in seven trades so mechanically that it scores low."""
    registered_at = np.asarray(END - DAY * (7 + 1_650 * builder.rng.beta(1.2, 2, count)), np.int64)
    divisors = np.where(builder.rng.random(count) < 0.14, 5, 1)
    return enroll(builder, registered_at, draw_scores(builder.rng, count, 0.6) / divisors)


def enroll_programs(builder: WorldBuilder, count: int, *, batch: int = 1, haste: float = 0.3) -> BazaarCrowd:
    """Add programs from the last two years, with low scores."""
    registered_at = registrations(builder.rng, count, 7, 700, batch=batch)
    return enroll(builder, registered_at, draw_scores(builder.rng, count, 0.1), haste=haste)
