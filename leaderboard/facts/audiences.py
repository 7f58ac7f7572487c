"""Who interacts with which agent, and how often: counted once, for the score and for the detectors."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from leaderboard.facts.columns import Accounts, Facts, Index, Real, Truth, Whole
from leaderboard.facts.grouping import beginnings, distinct, lengths, positions

# What is assumed of an account whose social score nobody told us: less than an ordinary account has, more than a bot.
UNKNOWN_SCORE = 0.3


@dataclass(frozen=True)
class Audience:
    """Accounts that interact, sorted by `fids`, and the pairs of an agent and an account, sorted by agent and account.

    What an agent does to its own casts is in no pair: it says nothing about who listens.
    """

    fids: Whole
    # 0 to 1 of each account; NaN where unknown.
    scores: Real
    # 0 where unknown.
    registered_at: Whole
    # Of each pair: the agent, the index into `fids`, and the number of interactions.
    pair_agent: Index
    pair_actor: Index
    pair_count: Index
    # Rows of interactions by pair and time; pair i has those from `pair_rows[i]` up to `pair_rows[i + 1]`.
    rows: Index
    pair_rows: Index
    # Agent i has the pairs from `starts[i]` up to `starts[i + 1]`.
    starts: Index
    # Of each agent, in pairs.
    interactions: Whole

    @property
    def agents(self) -> int:
        return len(self.interactions)

    def per_agent(self, values: npt.NDArray[np.number | np.bool_]) -> Real:
        """Sums over each agent's pairs of a value per pair, always in the same order."""
        return np.bincount(self.pair_agent, values, self.agents).astype(np.float64, copy=False)

    @property
    def is_unknown(self) -> Truth:
        """Whether each pair's account has a score that nobody knows."""
        return np.isnan(self.scores)[self.pair_actor]

    def without(self, dropped: Truth) -> Self:
        """The same without some pairs and their interactions, and without accounts that are in none then."""
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
        """The pairs of an agent."""
        return slice(int(self.starts[agent]), int(self.starts[agent + 1]))

    def rows_of(self, agent: int) -> Index:
        """The rows of interactions of an agent's pairs."""
        return self.rows[self.pair_rows[self.starts[agent]] : self.pair_rows[self.starts[agent + 1]]]


def gather(facts: Facts) -> Audience:
    """Counts the interactions of `facts` by agent and account."""
    interactions, agents = facts.interactions, len(facts.agents.ids)
    fids, _ = distinct(interactions.actor.copy())
    rows = np.flatnonzero(interactions.actor != facts.agents.fids[interactions.agent]).astype(np.int32)
    keys = positions(fids, interactions.actor[rows]).astype(np.int64)
    keys += interactions.agent[rows].astype(np.int64) * max(len(fids), 1)
    order = _by_key_and_time(keys, interactions.at[rows] - (facts.computed_at - facts.seconds), facts.seconds + 1)
    rows, keys = rows[order], keys[order]
    del order
    first = beginnings(keys)
    pair_agent, pair_actor = (part.astype(np.int32) for part in np.divmod(keys[first], max(len(fids), 1)))
    scores, registered_at = known_of(facts.accounts, fids)
    return Audience(
        fids=fids,
        scores=scores,
        registered_at=registered_at,
        pair_agent=pair_agent,
        pair_actor=pair_actor,
        pair_count=lengths(first, len(rows)),
        rows=rows,
        pair_rows=np.append(first, len(rows)).astype(np.int32),
        starts=_starts(pair_agent, agents),
        interactions=np.bincount(interactions.agent[rows], minlength=agents).astype(np.int64, copy=False),
    )


def _starts(pair_agent: Index, agents: int) -> Index:
    """Where each agent's pairs begin, and where the last one's end."""
    return np.searchsorted(pair_agent, np.arange(agents + 1, dtype=np.int32)).astype(np.int32)


def _by_key_and_time(keys: Whole, seconds: Whole, limit: int) -> Index:
    """The order by key, then by seconds, which are less than `limit`; in one number as long as it fits 63 bits."""
    if int(keys.max(initial=0)) < (1 << 63) // limit - 1:
        return np.argsort(keys * limit + seconds).astype(np.int32)
    return np.lexsort((seconds, keys)).astype(np.int32)


def known_of(accounts: Accounts, fids: Whole) -> tuple[Real, Whole]:
    """The social score (NaN where unknown) and the time of registration (0 where unknown) of each of `fids`."""
    at = positions(accounts.fids, fids)
    known = (at >= 0) & (fids != 0)
    scores, registered_at = np.full(len(fids), np.nan), np.zeros(len(fids), np.int64)
    scores[known], registered_at[known] = accounts.scores[at[known]], accounts.registered_at[at[known]]
    return scores, registered_at
