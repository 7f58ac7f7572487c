"""BURST_TIMING: interactions with the timing of programs: right after the cast, at constant delays, or in bursts.

Delays after a cast are compared by their logarithm, in thousandths, which sum exactly. People's delays vary by
factors, between people and from day to day; a program's don't.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import BoolArray, Float64Array, Int32Array, Int64Array, IntervalFacts
from leaderboard.facts.grouping import CHUNK, find_positions
from leaderboard.wash.bursts import find_bursts
from leaderboard.wash.evidence_accounts import list_accounts, select_pairs, share
from leaderboard.wash.findings import Evidence, Finding, Ramp, Sign
from leaderboard.wash.reporters import medians_by_reporter

Logarithms = npt.NDArray[np.int16]

FLAG = "BURST_TIMING"
WEIGHT = 0.75
CLOCKWORK = Ramp(0.025, 0.14)
BURSTS = Ramp(0.06, 0.2)
_THOUSANDTHS = 1000
# Standard deviation of the natural logarithm of people's delays around the usual one.
SPREAD = 1.6
# Interactions by which one agent counts towards the usual delay, evenly sampled.
_MAX_SAMPLES = 100
# Lower bound of the usual delay, in seconds: an invented crowd must not make programs look like people.
_MIN_USUAL_SECONDS = 30
# An account is quick with at least this many delays and a mean this many standard errors below the usual one.
_MIN_QUICK = 3
_QUICK = 1.65
# An account is steady with at least this many delays and a spread of at most this share of people's.
_MIN_STEADY = 5
_STEADY = 0.4
# One honest program that replies to each cast is no farm: this multiple of the busiest account is subtracted.
SPARED_MULTIPLE = 2
_GAP_BINS = 22


@dataclass(frozen=True)
class Delays:
    """Delays of the pairs with enough interactions: known delays, and sums of their logarithms and squares."""

    pairs: Int32Array
    known: Int32Array
    total: Int64Array
    squares: Int64Array
    # Usual delay of each agent.
    usual: Int32Array
    # Usual delay of each pair's agent.
    expected: Int32Array


def detect(facts: IntervalFacts, audience: Audience) -> Finding:
    """Measure the share of interactions by quick or steady accounts, and the share in bursts."""
    delays = measure_delays(facts, audience)
    machine = np.zeros(len(audience.pair_agent), np.bool_)
    machine[delays.pairs] = is_quick(delays) | is_steady(delays)
    bursts = find_bursts(facts, audience)

    def describe(agent: int) -> Evidence:
        rows = audience.rows_of(agent)
        return {
            "interactions": int(audience.interactions[agent]),
            "usualDelaySeconds": round(float(np.exp(delays.usual[agent] / _THOUSANDTHS)), 1),
            "spared": SPARED_MULTIPLE,
            "clockwork": _with_delays(audience, delays, select_pairs(audience, agent, machine)),
            "bursts": bursts.describe(agent),
            "gaps": gap_histogram(np.sort(facts.interactions.at[rows])),
        }

    return Finding(
        (
            Sign("clockwork", share(without_busiest(audience, machine), audience.interactions), CLOCKWORK),
            Sign("bursts", bursts.measured, BURSTS),
        ),
        describe,
    )


def measure_delays(facts: IntervalFacts, audience: Audience) -> Delays:
    """Measure each account's delays after the cast; casts from before the interval are left out."""
    logarithms = _log_delays(facts, audience.rows)
    usual = _usual_delays(logarithms, audience, facts.reporter_numbers().astype(np.int32))
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


def _log_delays(facts: IntervalFacts, rows: Int32Array) -> Logarithms:
    """Return the logarithm of each row's delay, in thousandths; -1 if the cast's time is unknown."""
    order = np.argsort(facts.actions.cast)
    casts, written = facts.actions.cast[order], facts.actions.at[order]
    logarithms = np.empty(len(rows), np.int16)
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        cast = find_positions(casts, facts.interactions.cast[part])
        if len(casts):
            delays = np.maximum(facts.interactions.at[part] - written[cast], 1)
            logarithm = np.minimum(np.rint(np.log(delays) * _THOUSANDTHS), np.iinfo(np.int16).max)
        else:
            logarithm = np.zeros(len(part))
        logarithms[start : start + CHUNK] = np.where(cast >= 0, logarithm, -1)
    return logarithms


def _usual_delays(logarithms: Logarithms, audience: Audience, reporters: Int32Array) -> Int32Array:
    """Return each agent's usual delay: the median over all agents, or over its reporter's if that is lower.

    The weight of a single agent is limited: an invented crowd must not set the baseline.
    """
    counts = audience.interactions.astype(np.int32)
    steps = -(-counts // _MAX_SAMPLES)
    places = np.arange(len(logarithms), dtype=np.int32) - np.repeat(np.cumsum(counts, dtype=np.int32) - counts, counts)
    sampled = (places % np.repeat(np.maximum(steps, 1), counts) == 0) & (logarithms >= 0)
    values, number = logarithms[sampled], int(reporters.max(initial=0)) + 1
    everywhere = medians_by_reporter(values, np.zeros(len(values), np.int32), number=1)
    own = medians_by_reporter(values, np.repeat(reporters, counts)[sampled], number=number)
    lower = np.where(own < 0, everywhere, np.minimum(own, everywhere))
    least = round(float(np.log(_MIN_USUAL_SECONDS)) * _THOUSANDTHS)
    return np.maximum(lower, least)[reporters].astype(np.int32)


def _sums(values: Int64Array, starts: Int64Array) -> Int64Array:
    return np.add.reduceat(values, starts) if len(starts) else np.zeros(0, np.int64)


def is_quick(delays: Delays) -> BoolArray:
    """Mask pairs with delays shorter than usual by more than chance explains."""
    known = np.maximum(delays.known, 1)
    below = (delays.expected - delays.total / known) * np.sqrt(known) / (SPREAD * _THOUSANDTHS)
    return (delays.known >= _MIN_QUICK) & (below > _QUICK)


def is_steady(delays: Delays) -> BoolArray:
    """Mask pairs with hardly varying delays."""
    known = np.maximum(delays.known, 2)
    variance = (delays.squares - delays.total.astype(np.float64) ** 2 / known) / (known - 1)
    steady: BoolArray = (delays.known >= _MIN_STEADY) & (variance < (_STEADY * SPREAD * _THOUSANDTHS) ** 2)
    return steady


def without_busiest(audience: Audience, chosen: BoolArray) -> Float64Array:
    """Return the interactions of each agent's chosen pairs, less a multiple of the busiest pair's."""
    busiest = np.zeros(audience.agents)
    np.maximum.at(busiest, audience.pair_agent[chosen], audience.pair_count[chosen])
    return np.maximum(audience.per_agent(chosen * audience.pair_count) - SPARED_MULTIPLE * busiest, 0)


def gap_histogram(times: Int64Array) -> list[int]:
    """Count the gaps between interactions of 0 to 1 seconds, to 2, to 4 and so on, in powers of two."""
    gaps = np.log2(np.maximum(np.diff(times), 1)).astype(np.int64)
    return [int(gaps_of) for gaps_of in np.bincount(np.minimum(gaps, _GAP_BINS - 1), minlength=_GAP_BINS)]


def _with_delays(audience: Audience, delays: Delays, pairs: Int32Array) -> Evidence:
    described = list_accounts(audience, pairs)
    at = np.searchsorted(delays.pairs, pairs)
    means = np.exp(delays.total[at] / np.maximum(delays.known[at], 1) / _THOUSANDTHS)
    typical = dict(zip(audience.fids[audience.pair_actor[pairs]].tolist(), means.tolist(), strict=True))
    for account in described["accounts"]:
        account["typicalDelaySeconds"] = round(typical[account["fid"]], 1)
    return described
