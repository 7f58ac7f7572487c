"""Audiences: the accounts that interact with each agent and their counts, shared by scoring and wash detection."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from leaderboard.facts.columns import Accounts, BoolArray, Float64Array, Int32Array, Int64Array, IntervalFacts
from leaderboard.facts.grouping import count_distinct, find_positions, run_lengths, run_starts

# Assumed for an account of unknown social score: less than an ordinary account has, more than a bot.
UNKNOWN_SCORE = 0.3


@dataclass(frozen=True)
class Audience:
    """Accounts that interact, sorted by `fids`, and pairs of agent and account, sorted by agent and account.

    An agent's interactions with its own casts are excluded: they are no evidence of an audience.
    """

    fids: Int64Array
    # 0 to 1 of each account; NaN where unknown.
    scores: Float64Array
    # 0 where unknown.
    registered_at: Int64Array
    # Of each pair: the agent, the index into `fids`, and the number of interactions.
    pair_agent: Int32Array
    pair_actor: Int32Array
    pair_count: Int32Array
    # Rows of interactions by pair and time; pair i has those from `pair_rows[i]` up to `pair_rows[i + 1]`.
    rows: Int32Array
    pair_rows: Int32Array
    # Agent i has the pairs from `starts[i]` up to `starts[i + 1]`.
    starts: Int32Array
    # Of each agent, in pairs.
    interactions: Int64Array

    @property
    def agents(self) -> int:
        return len(self.interactions)

    def per_agent(self, values: npt.NDArray[np.number | np.bool_]) -> Float64Array:
        """Sum a value per pair over each agent's pairs, always in the same order."""
        return np.bincount(self.pair_agent, values, self.agents).astype(np.float64, copy=False)

    @property
    def is_unknown(self) -> BoolArray:
        """Mask of the pairs with an account of unknown score."""
        return np.isnan(self.scores)[self.pair_actor]

    def without(self, dropped: BoolArray) -> Self:
        """Return a copy without some pairs and their interactions, and without accounts that have no pair left."""
        kept = ~dropped
        agent, counts = self.pair_agent[kept], self.pair_count[kept]
        used = np.zeros(len(self.fids), np.bool_)
        used[self.pair_actor[kept]] = True
        places = (np.cumsum(used) - 1).astype(np.int32)
        return replace(
            self,
            fids=self.fids[used],
            scores=self.scores[used],
            registered_at=self.registered_at[used],
            pair_agent=agent,
            pair_actor=places[self.pair_actor[kept]],
            pair_count=counts,
            rows=self.rows[np.repeat(kept, self.pair_count)],
            pair_rows=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            starts=_starts(agent, self.agents),
            interactions=np.bincount(agent, counts, self.agents).astype(np.int64),
        )

    def pairs_of(self, agent: int) -> slice:
        """Return the slice of an agent's pairs."""
        return slice(int(self.starts[agent]), int(self.starts[agent + 1]))

    def rows_of(self, agent: int) -> Int32Array:
        """Return the rows of interactions of an agent's pairs."""
        return self.rows[self.pair_rows[self.starts[agent]] : self.pair_rows[self.starts[agent + 1]]]


def build_audience(facts: IntervalFacts) -> Audience:
    """Count the interactions of `facts` by agent and account."""
    interactions, agents = facts.interactions, len(facts.agents.ids)
    fids, _ = count_distinct(interactions.actor.copy())
    rows = np.flatnonzero(interactions.actor != facts.agents.fids[interactions.agent]).astype(np.int32)
    keys = find_positions(fids, interactions.actor[rows]).astype(np.int64)
    keys += interactions.agent[rows].astype(np.int64) * max(len(fids), 1)
    order = _by_key_and_time(keys, interactions.at[rows] - (facts.computed_at - facts.seconds), facts.seconds + 1)
    rows, keys = rows[order], keys[order]
    del order
    first = run_starts(keys)
    pair_agent, pair_actor = (part.astype(np.int32) for part in np.divmod(keys[first], max(len(fids), 1)))
    scores, registered_at = look_up_accounts(facts.accounts, fids)
    return Audience(
        fids=fids,
        scores=scores,
        registered_at=registered_at,
        pair_agent=pair_agent,
        pair_actor=pair_actor,
        pair_count=run_lengths(first, len(rows)),
        rows=rows,
        pair_rows=np.append(first, len(rows)).astype(np.int32),
        starts=_starts(pair_agent, agents),
        interactions=np.bincount(interactions.agent[rows], minlength=agents).astype(np.int64, copy=False),
    )


def _starts(pair_agent: Int32Array, agents: int) -> Int32Array:
    """Return the offset of each agent's first pair, and the end of the last agent's."""
    return np.searchsorted(pair_agent, np.arange(agents + 1, dtype=np.int32)).astype(np.int32)


def _by_key_and_time(keys: Int64Array, seconds: Int64Array, limit: int) -> Int32Array:
    """Return the permutation that sorts by key, then by seconds, which are less than `limit`.

    Key and time are packed into one number as long as it fits 63 bits.
    """
    if int(keys.max(initial=0)) < (1 << 63) // limit - 1:
        return np.argsort(keys * limit + seconds).astype(np.int32)
    return np.lexsort((seconds, keys)).astype(np.int32)


def look_up_accounts(accounts: Accounts, fids: Int64Array) -> tuple[Float64Array, Int64Array]:
    """Return the social score (NaN where unknown) and registration time (0 where unknown) of each of `fids`."""
    at = find_positions(accounts.fids, fids)
    known = (at >= 0) & (fids != 0)
    scores, registered_at = np.full(len(fids), np.nan), np.zeros(len(fids), np.int64)
    scores[known], registered_at[known] = accounts.scores[at[known]], accounts.registered_at[at[known]]
    return scores, registered_at
