"""Times at which sellers' accounts interact, by delivery."""

import numpy as np

from benchmarks.leaderboard.worlds.world import DAY, END, WEEK
from leaderboard.facts.columns import Int64Array

from .orchard_people import HOUR, delay_to_waking

_START = END - WEEK

# The functions below have the same parameters. numbers, totals: each interaction's place among its account's,
# from 0, and how many these are. zones: the account's time zone.


def draw_waking_times(
    rng: np.random.Generator, numbers: Int64Array, totals: Int64Array, zones: Int64Array
) -> Int64Array:
    """Return times in the week, within the account's days."""
    return delay_to_waking(rng, _START + rng.integers(0, WEEK, len(numbers)), zones)


def draw_burst_times(
    rng: np.random.Generator, numbers: Int64Array, totals: Int64Array, zones: Int64Array
) -> Int64Array:
    """Return times within 15 minutes after a few deliveries."""
    deliveries = _START + rng.integers(DAY // 2, WEEK - HOUR, 5)
    return rng.choice(deliveries, len(numbers)) + rng.integers(0, HOUR // 4, len(numbers))


def draw_drip_times(rng: np.random.Generator, numbers: Int64Array, totals: Int64Array, zones: Int64Array) -> Int64Array:
    """Return times at equal distances over the week, different for each account."""
    share = (numbers + rng.random(len(numbers))) / totals
    return delay_to_waking(rng, _START + (share * WEEK).astype(np.int64), zones)


def draw_daily_times(
    rng: np.random.Generator, numbers: Int64Array, totals: Int64Array, zones: Int64Array
) -> Int64Array:
    """Return one time on each day, so that every 24-hour ranking has all accounts."""
    return _START + numbers % 7 * DAY + rng.integers(HOUR, DAY - HOUR, len(numbers))


def draw_spike_times(
    rng: np.random.Generator, numbers: Int64Array, totals: Int64Array, zones: Int64Array
) -> Int64Array:
    """Return a time within the last day for each account's last interaction, and earlier days for the others.

    The earlier ones raise an account's weight, which the week determines also in the 24-hour ranking.
    """
    last_day = END - rng.integers(HOUR, 20 * HOUR, len(numbers))
    return np.where(numbers == totals - 1, last_day, END - rng.integers(2 * DAY, 6 * DAY, len(numbers)))


def draw_last_day_times(
    rng: np.random.Generator, numbers: Int64Array, totals: Int64Array, zones: Int64Array
) -> Int64Array:
    """Return times within the last hours before the end."""
    return END - rng.integers(HOUR, 16 * HOUR, len(numbers))
