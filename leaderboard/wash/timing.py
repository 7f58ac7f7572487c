"""BURST_TIMING: interactions that come when programs make them: at once after the cast, like clockwork, or in a heap.

Delays after a cast are compared by their logarithm, in thousandths, whose sums are exact. People's delays differ by
factors, from one another and from one day to the next; a program's don't.
"""

from dataclasses import dataclass

import numpy as np

from leaderboard.audiences import Audience
from leaderboard.columns import Facts, Index, Real, Truth, Whole
from leaderboard.grouping import positions
from leaderboard.wash.accounts import listed, pairs_of, share
from leaderboard.wash.bursts import find_bursts
from leaderboard.wash.findings import Evidence, Finding, Ramp, Sign

FLAG = "BURST_TIMING"
WEIGHT = 0.75
CLOCKWORK = Ramp(0.05, 0.25)
BURSTS = Ramp(0.06, 0.26)
_THOUSANDTHS = 1000
# How far people's delays spread around the usual one, as a standard deviation of their natural logarithm.
SPREAD = 1.6
# An account is quick if so many delays or more lie below the usual one by this many standard errors.
_MIN_QUICK = 3
_QUICK = 1.65
# It is steady if so many delays or more spread by no more than this share of what people's do.
_MIN_STEADY = 5
_STEADY = 0.4
# One honest program that answers each cast is no farm: so many times the busiest such account is taken off.
_SPARED = 2
_GAP_BINS = 22


@dataclass(frozen=True)
class Delays:
    """Of each pair: how many delays are known, and the sums of their logarithms and of the squares of these."""

    known: Index
    total: Whole
    squares: Whole
    # The median of all delays' logarithms.
    usual: int


def find(facts: Facts, audience: Audience) -> Finding:
    """The share of interactions by quick or steady accounts, and the share that comes in bursts."""
    delays = measure_delays(facts, audience)
    machine = is_quick(delays) | is_steady(delays)
    by_machines = spared(audience, machine)
    bursts = find_bursts(facts, audience)

    def describe(agent: int) -> Evidence:
        rows = audience.rows_of(agent)
        return {
            "interactions": int(audience.interactions[agent]),
            "usualDelaySeconds": round(float(np.exp(delays.usual / _THOUSANDTHS)), 1),
            "spared": _SPARED,
            "clockwork": _with_delays(audience, delays, pairs_of(audience, agent, machine)),
            "bursts": bursts.describe(agent),
            "gaps": gap_histogram(np.sort(facts.interactions.at[rows])),
        }

    return Finding(
        (
            Sign("clockwork", share(by_machines, audience.interactions), CLOCKWORK),
            Sign("bursts", bursts.measured, BURSTS),
        ),
        describe,
    )


def measure_delays(facts: Facts, audience: Audience) -> Delays:
    """How long after the cast each account's interactions came; casts from before the interval are unknown."""
    logarithms = _log_delays(facts, audience.rows)
    known = logarithms >= 0
    usual = int(np.median(logarithms[known])) if known.any() else 0
    logarithms[~known] = 0
    starts = audience.pair_rows[:-1]
    if not len(starts):
        nothing = np.zeros(0, np.int64)
        return Delays(nothing.astype(np.int32), nothing, nothing, usual)
    return Delays(
        known=np.add.reduceat(known, starts, dtype=np.int32),
        total=np.add.reduceat(logarithms, starts, dtype=np.int64),
        squares=np.add.reduceat(np.square(logarithms, dtype=np.int64), starts),
        usual=usual,
    )


def _log_delays(facts: Facts, rows: Index) -> Index:
    """The logarithm of each row's delay, in thousandths; -1 where the cast's time is unknown."""
    order = np.argsort(facts.actions.cast)
    casts, written = facts.actions.cast[order], facts.actions.at[order]
    cast = positions(casts, facts.interactions.cast[rows])
    known = cast >= 0
    logarithms = np.full(len(rows), -1, np.int32)
    delays = np.maximum(facts.interactions.at[rows[known]] - written[cast[known]], 1)
    logarithms[known] = np.rint(np.log(delays, dtype=np.float32) * _THOUSANDTHS).astype(np.int32)
    return logarithms


def is_quick(delays: Delays) -> Truth:
    """Whether each pair's delays are shorter than the usual by more than chance."""
    known = np.maximum(delays.known, 1)
    below = (delays.usual - delays.total / known) * np.sqrt(known) / (SPREAD * _THOUSANDTHS)
    return (delays.known >= _MIN_QUICK) & (below > _QUICK)


def is_steady(delays: Delays) -> Truth:
    """Whether each pair's delays are all alike."""
    known = np.maximum(delays.known, 2)
    variance = (delays.squares - delays.total.astype(np.float64) ** 2 / known) / (known - 1)
    steady: Truth = (delays.known >= _MIN_STEADY) & (variance < (_STEADY * SPREAD * _THOUSANDTHS) ** 2)
    return steady


def spared(audience: Audience, chosen: Truth) -> Real:
    """The interactions of each agent's chosen pairs, less some times those of the busiest of them."""
    busiest = np.zeros(audience.agents)
    np.maximum.at(busiest, audience.pair_agent[chosen], audience.pair_count[chosen])
    return np.maximum(audience.per_agent(chosen * audience.pair_count) - _SPARED * busiest, 0)


def gap_histogram(times: Whole) -> list[int]:
    """How many gaps between interactions are of 0 to 1 seconds, to 2, to 4 and so on, in powers of two."""
    gaps = np.log2(np.maximum(np.diff(times), 1)).astype(np.int64)
    return [int(gaps_of) for gaps_of in np.bincount(np.minimum(gaps, _GAP_BINS - 1), minlength=_GAP_BINS)]


def _with_delays(audience: Audience, delays: Delays, pairs: Index) -> Evidence:
    described = listed(audience, pairs)
    mean = {
        int(audience.fids[audience.pair_actor[pair]]): float(
            np.exp(delays.total[pair] / max(int(delays.known[pair]), 1) / _THOUSANDTHS)
        )
        for pair in pairs
    }
    for account in described["accounts"]:
        account["typicalDelaySeconds"] = round(mean[account["fid"]], 1)
    return described
