"""Audiences: the accounts that interact with each agent, and their counts."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.facts.columns import Accounts, BoolArray, Float64Array, Int32Array, Int64Array, IntervalFacts
from leaderboard.facts.grouping import count_distinct, find_positions, run_lengths, run_starts


@dataclass(frozen=True)
class Audience:
    """Accounts that interact, sorted by `fids`, and (agent, account) pairs, sorted by agent and account.

    A pair has an interaction in the judged period. An agent's interactions with its own casts are excluded: they don't
    show an audience.
    """

    fids: Int64Array
    # Social score per account, 0 to 1; NaN if unknown.
    scores: Float64Array
    # Per pair: the agent, the index into `fids`, whether an interaction is confirmed, and the number of confirmed
    # interactions; 1 if none is confirmed.
    pair_agent: Int32Array
    pair_actor: Int32Array
    is_confirmed: BoolArray
    pair_count: Int32Array
    # Whether a confirmed interaction is within the interval.
    is_current: BoolArray
    # Agent i has the pairs from `starts[i]` to before `starts[i + 1]`.
    starts: Int32Array

    @property
    def agents(self) -> int:
        return len(self.starts) - 1

    def per_agent(self, values: npt.NDArray[np.number | np.bool_]) -> Float64Array:
        """Sum a value per pair over each agent's pairs, always in the same sequence."""
        return np.bincount(self.pair_agent, values, self.agents).astype(np.float64, copy=False)

    def pairs_of(self, agent: int) -> slice:
        """Return the slice of an agent's pairs."""
        return slice(int(self.starts[agent]), int(self.starts[agent + 1]))


def build_audience(facts: IntervalFacts) -> Audience:
    """Count interactions by agent and account."""
    interactions, agents = facts.interactions, len(facts.agents.ids)
    fids, _ = count_distinct(interactions.actor.copy())
    rows = np.flatnonzero(interactions.actor != facts.agents.fids[interactions.agent])
    width = max(len(fids), 1)
    keys = interactions.agent[rows].astype(np.int64) * width
    keys += find_positions(fids, interactions.actor[rows])
    # The lowest bits sort a pair's confirmed interactions after the others, and confirmed current ones last.
    is_confirmed = interactions.is_confirmed[rows]
    keys *= 4
    keys += 2 * (is_confirmed & interactions.is_current[rows]) + is_confirmed
    keys.sort()
    pair_starts = run_starts(keys >> 2)
    newest = keys[pair_starts + run_lengths(pair_starts, len(keys)) - 1]
    pair_agent, pair_actor = (indexes.astype(np.int32) for indexes in np.divmod(newest >> 2, width))
    # Computed in place, to save memory.
    keys &= 1
    confirmed = np.add.reduceat(keys, pair_starts) if len(keys) else keys
    return Audience(
        fids=fids,
        scores=look_up_scores(facts.accounts, fids),
        pair_agent=pair_agent,
        pair_actor=pair_actor,
        is_confirmed=confirmed > 0,
        pair_count=np.maximum(confirmed, 1).astype(np.int32),
        is_current=newest & 2 > 0,
        starts=np.searchsorted(pair_agent, np.arange(agents + 1, dtype=np.int32)).astype(np.int32),
    )


def look_up_scores(accounts: Accounts, fids: Int64Array) -> Float64Array:
    """Return the social score for each FID; NaN if unknown."""
    positions = find_positions(accounts.fids, fids)
    is_known = (positions >= 0) & (fids != 0)
    scores = np.full(len(fids), np.nan)
    scores[is_known] = accounts.scores[positions[is_known]]
    return scores
