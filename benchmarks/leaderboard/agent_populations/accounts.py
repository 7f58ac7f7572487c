"""Accounts on the social protocol: their number, activity, scores and hours awake."""

from dataclasses import dataclass

import numpy as np

from leaderboard.facts.columns import Float64Array, Int8Array, Int32Array, Int64Array

DAY = 86_400
# FIDs have been given out one after the other since registration opened to the public.
OPENED_AT = 1_696_982_400
# UTC offsets of where people live, and their shares.
ZONES = np.array([-8, -5, -3, 0, 1, 3, 5, 7, 8, 9], dtype=np.int8)
_ZONE_SHARES = np.array([0.13, 0.2, 0.07, 0.09, 0.12, 0.1, 0.09, 0.1, 0.06, 0.04])
# How likely a person looks at the feed, by the hour in the day.
_AWAKE = np.array(
    [35, 20, 12, 8, 6, 8, 18, 38, 58, 70, 78, 82, 86, 84, 82, 82, 84, 88, 92, 97, 100, 96, 82, 58], dtype=np.float64
) / 100  # fmt: skip


@dataclass(frozen=True)
class Pool:
    """Accounts, one array entry each. Scores are NaN and registrations 0 where they are unknown."""

    fids: Int64Array
    scores: Float64Array
    registered_at: Int64Array
    # UTC offset in hours.
    zone: Int8Array
    # How often it interacts, relative to others.
    activity: Float64Array


class Registry:
    """A registry that gives out FIDs, each once; neighbouring numbers are minutes apart."""

    def __init__(self, computed_at: int, *, newest: int) -> None:
        self._computed_at = computed_at
        self._newest = newest
        self._is_taken = np.zeros(newest + 1, dtype=np.bool_)
        self._is_taken[0] = True

    def registered_at(self, fids: Int64Array) -> Int64Array:
        """Return when accounts were registered, to the day's even pace."""
        share = fids / self._newest
        return (OPENED_AT + share * (self._computed_at - OPENED_AT)).astype(np.int64)

    def scattered(self, rng: np.random.Generator, count: int, *, newest: float = 1.0) -> Int64Array:
        """Return FIDs that have nothing in common, from the newest share of all."""
        first = int(self._newest * (1 - newest)) + 1
        free = first + np.flatnonzero(~self._is_taken[first:])
        return self._take(rng.choice(free, size=count, replace=False))

    def lot(self, rng: np.random.Generator, count: int, *, days_ago: float) -> Int64Array:
        """Return FIDs that one hand registered within some hours, `days_ago` or earlier."""
        a_day = self._newest / ((self._computed_at - OPENED_AT) / DAY)
        base = int(np.clip(self._newest - days_ago * a_day, 1, self._newest - 10 * count))
        steps = np.cumsum(rng.geometric(0.4, size=count)) - 1
        room = int(steps[-1]) + 10 * count
        for first in range(base, 0, -room):
            free = first + np.flatnonzero(~self._is_taken[first : first + room])
            if free.size > steps[-1]:
                return self._take(free[steps])
        raise ValueError("there are no more FIDs before this day")

    def _take(self, free: Int64Array) -> Int64Array:
        self._is_taken[free] = True
        return free.astype(np.int64)


def draw_pool(rng: np.random.Generator, registry: Registry, *, count: int) -> Pool:
    """Draw the public: activity is Pareto-like, the score follows it loosely; 4 in 100 registered within two weeks."""
    newcomers = max(1, int(count * 0.04))
    fids = np.concatenate(
        [registry.scattered(rng, newcomers, newest=0.017), registry.scattered(rng, count - newcomers)]
    )
    is_newcomer = np.arange(count) < newcomers
    activity = np.minimum((1 - rng.random(count)) ** (-1 / 1.15), 400.0)
    rank = np.log(activity) - 0.87
    scores = 1 / (1 + np.exp(0.9 - 0.75 * rank - 0.9 * rng.standard_normal(count)))
    scores[is_newcomer] *= 0.45
    unknown = np.clip(0.42 - 0.12 * rank, 0.05, 0.7) + 0.15 * is_newcomer
    scores[rng.random(count) < unknown] = np.nan
    return Pool(fids, scores, _known(rng, registry.registered_at(fids)), draw_zones(rng, count), activity)


def draw_farm(
    rng: np.random.Generator,
    registry: Registry,
    *,
    count: int,
    days: tuple[float, float],
    lots: int,
    scores: tuple[float, float],
    unknown: float,
    zone: int,
) -> Pool:
    """Draw accounts that one hand registered or bought in lots: ages in `days`, scores in `scores` or unknown."""
    parts = np.array_split(np.arange(count), min(lots, count))
    fids = np.concatenate(
        [registry.lot(rng, part.size, days_ago=float(np.exp(rng.uniform(*np.log(days))))) for part in parts]
    )
    found = rng.uniform(*scores) + 0.08 * rng.standard_normal(count)
    found = np.clip(np.where(rng.random(count) < 0.3, rng.uniform(*scores, size=count), found), 0.01, 0.97)
    found[rng.random(count) < unknown] = np.nan
    zones = np.full(count, zone, dtype=np.int8)
    return Pool(fids, found, _known(rng, registry.registered_at(fids)), zones, np.ones(count))


def draw_zones(rng: np.random.Generator, count: int) -> Int8Array:
    """Draw accounts' time zones."""
    return rng.choice(ZONES, size=count, p=_ZONE_SHARES)


def draw_weighted(rng: np.random.Generator, weights: Float64Array, count: int) -> Int32Array:
    """Draw indexes by weight, with repetitions."""
    reach = np.cumsum(weights)
    return np.searchsorted(reach, rng.random(count) * reach[-1], side="right").astype(np.int32)


def wake(rng: np.random.Generator, at: Int64Array, zone: Int8Array) -> np.ndarray:
    """Draw whether a person in `zone` looks at the feed at a time."""
    hour = (at // 3600 + zone) % 24
    return rng.random(at.size) < _AWAKE[hour]


def _known(rng: np.random.Generator, registered_at: Int64Array) -> Int64Array:
    """Return registrations as far as they are known."""
    return np.where(rng.random(registered_at.size) < 0.15, 0, registered_at)
