"""BURST_TIMING: interactions that come when programs make them: at once after the cast, like clockwork, or in a heap.

Delays after a cast are compared by their logarithm, in thousandths, whose sums are exact. People's delays differ by
factors, from one another and from one day to the next; a program's don't.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Facts, Index, Real, Truth, Whole
from leaderboard.facts.grouping import CHUNK, positions
from leaderboard.wash.bursts import find_bursts
from leaderboard.wash.evidence_accounts import listed, pairs_of, share
from leaderboard.wash.findings import Evidence, Finding, Ramp, Sign
from leaderboard.wash.reporters import medians

Logarithms = npt.NDArray[np.int16]

FLAG = "BURST_TIMING"
WEIGHT = 0.75
CLOCKWORK = Ramp(0.025, 0.14)
BURSTS = Ramp(0.06, 0.2)
_THOUSANDTHS = 1000
# How far people's delays spread around the usual one, as a standard deviation of their natural logarithm.
SPREAD = 1.6
# An agent has a say in the usual delay by so many interactions, evenly chosen.
_SAY = 100
# A public as a whole is never quicker: what somebody invents for his agents makes no program look like people.
_LEAST_USUAL = 30
# An account is quick if so many delays or more lie below the usual one by this many standard errors.
_MIN_QUICK = 3
_QUICK = 1.65
# It is steady if so many delays or more spread by no more than this share of what people's do.
_MIN_STEADY = 5
_STEADY = 0.4
# One honest program that answers each cast is no farm: so many times the busiest such account is taken off.
SPARED = 2
_GAP_BINS = 22


@dataclass(frozen=True)
class Delays:
    """Of the pairs with enough interactions: how many delays are known, and sums of their logarithms and squares."""

    pairs: Index
    known: Index
    total: Whole
    squares: Whole
    # Of each agent, what delays are usual for it.
    usual: Index
    # Of each of `pairs`, its agent's.
    expected: Index


def find(facts: Facts, audience: Audience) -> Finding:
    """The share of interactions by quick or steady accounts, and the share that comes in bursts."""
    delays = measure_delays(facts, audience)
    machine = np.zeros(len(audience.pair_agent), np.bool_)
    machine[delays.pairs] = is_quick(delays) | is_steady(delays)
    bursts = find_bursts(facts, audience)

    def describe(agent: int) -> Evidence:
        rows = audience.rows_of(agent)
        return {
            "interactions": int(audience.interactions[agent]),
            "usualDelaySeconds": round(float(np.exp(delays.usual[agent] / _THOUSANDTHS)), 1),
            "spared": SPARED,
            "clockwork": _with_delays(audience, delays, pairs_of(audience, agent, machine)),
            "bursts": bursts.describe(agent),
            "gaps": gap_histogram(np.sort(facts.interactions.at[rows])),
        }

    return Finding(
        (
            Sign("clockwork", share(spared(audience, machine), audience.interactions), CLOCKWORK),
            Sign("bursts", bursts.measured, BURSTS),
        ),
        describe,
    )


def measure_delays(facts: Facts, audience: Audience) -> Delays:
    """How long after the cast each account's interactions came; a cast from before the interval tells no delay."""
    logarithms = _log_delays(facts, audience.rows)
    usual = _usual(logarithms, audience, facts.reporter_numbers().astype(np.int32))
    pairs = np.flatnonzero(audience.pair_count >= _MIN_QUICK).astype(np.int32)
    sizes = audience.pair_count[pairs]
    starts = np.cumsum(sizes) - sizes
    # The rows of these pairs, one pair after the other.
    rows = np.repeat(audience.pair_rows[pairs] - starts, sizes) + np.arange(sizes.sum())
    logarithms = logarithms[rows]
    known = logarithms >= 0
    logarithms[~known] = 0
    wide = logarithms.astype(np.int64)
    return Delays(
        pairs=pairs,
        known=_sums(known.astype(np.int64), starts).astype(np.int32),
        total=_sums(wide, starts),
        squares=_sums(wide**2, starts),
        usual=usual,
        expected=usual[audience.pair_agent[pairs]],
    )


def _log_delays(facts: Facts, rows: Index) -> Logarithms:
    """The logarithm of each row's delay, in thousandths; -1 where the cast's time is unknown."""
    order = np.argsort(facts.actions.cast)
    casts, written = facts.actions.cast[order], facts.actions.at[order]
    logarithms = np.empty(len(rows), np.int16)
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        cast = positions(casts, facts.interactions.cast[part])
        if len(casts):
            delays = np.maximum(facts.interactions.at[part] - written[cast], 1)
            logarithm = np.minimum(np.rint(np.log(delays) * _THOUSANDTHS), np.iinfo(np.int16).max)
        else:
            logarithm = np.zeros(len(part))
        logarithms[start : start + CHUNK] = np.where(cast >= 0, logarithm, -1)
    return logarithms


def _usual(logarithms: Logarithms, audience: Audience, reporters: Index) -> Index:
    """Of each agent: the median over all agents, or over those of its reporter where it is less.

    No agent has much of a say: whoever invents a crowd must not set the pace.
    """
    counts = audience.interactions.astype(np.int32)
    steps = -(-counts // _SAY)
    places = np.arange(len(logarithms), dtype=np.int32) - np.repeat(np.cumsum(counts, dtype=np.int32) - counts, counts)
    says = (places % np.repeat(np.maximum(steps, 1), counts) == 0) & (logarithms >= 0)
    values, number = logarithms[says], int(reporters.max(initial=0)) + 1
    everywhere = medians(values, np.zeros(len(values), np.int32), number=1)
    own = medians(values, np.repeat(reporters, counts)[says], number=number)
    lower = np.where(own < 0, everywhere, np.minimum(own, everywhere))
    least = round(float(np.log(_LEAST_USUAL)) * _THOUSANDTHS)
    return np.maximum(lower, least)[reporters].astype(np.int32)


def _sums(values: Whole, starts: Whole) -> Whole:
    return np.add.reduceat(values, starts) if len(starts) else np.zeros(0, np.int64)


def is_quick(delays: Delays) -> Truth:
    """Whether each pair's delays are shorter than the usual by more than chance."""
    known = np.maximum(delays.known, 1)
    below = (delays.expected - delays.total / known) * np.sqrt(known) / (SPREAD * _THOUSANDTHS)
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
    return np.maximum(audience.per_agent(chosen * audience.pair_count) - SPARED * busiest, 0)


def gap_histogram(times: Whole) -> list[int]:
    """How many gaps between interactions are of 0 to 1 seconds, to 2, to 4 and so on, in powers of two."""
    gaps = np.log2(np.maximum(np.diff(times), 1)).astype(np.int64)
    return [int(gaps_of) for gaps_of in np.bincount(np.minimum(gaps, _GAP_BINS - 1), minlength=_GAP_BINS)]


def _with_delays(audience: Audience, delays: Delays, pairs: Index) -> Evidence:
    described = listed(audience, pairs)
    at = np.searchsorted(delays.pairs, pairs)
    means = np.exp(delays.total[at] / np.maximum(delays.known[at], 1) / _THOUSANDTHS)
    typical = dict(zip(audience.fids[audience.pair_actor[pairs]].tolist(), means.tolist(), strict=True))
    for account in described["accounts"]:
        account["typicalDelaySeconds"] = round(typical[account["fid"]], 1)
    return described
