"""Feeders: accounts that come back to the same group of agents and to hardly any other."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Agents, BoolArray, Float64Array, Int32Array, Int64Array
from leaderboard.facts.grouping import run_lengths, run_starts
from leaderboard.wash.evidence_accounts import interactions_by_account
from leaderboard.wash.findings import Evidence
from leaderboard.wash.reporters import comparison_accounts

# An account comes back with at least this many interactions; only its busiest agents are compared.
_MIN_RETURNS = 2
_MAX_AGENTS_OF_ACCOUNT = 12
# Two agents share feeders if at least _MIN_SHARED accounts come back to both, _TIMES_CHANCE as many as by chance, and
# these are at least _MIN_OVERLAP of the geometric mean of both agents' returning accounts.
_MIN_SHARED = 4
_TIMES_CHANCE = 4
_MIN_OVERLAP = 0.15
# Chance is computed over the accounts that come back to the same reporter's agents, and this many of others.
_OTHERS = 500
# A feeder has at least _MIN_FED interactions, _FED_SHARE of them with the ring, and with _FED_AGENTS of its agents.
_MIN_FED = 6
_FED_SHARE = 0.8
_FED_AGENTS = 0.75
# Agents per matrix product, which bounds its size.
_CHUNK = 512
MAX_AGENTS = 40

Matrix = sparse.csr_array[Any, tuple[int, int]]


@dataclass(frozen=True)
class SharedFeeders:
    """Agents that share feeders, and a mask of the audience's pairs with a feeder."""

    # For each agent, itself and those it shares feeders with: number of accounts that come back to both.
    overlap: Matrix
    feeds: BoolArray

    def describe(self, agent: int, agents: Agents) -> Evidence:
        """Return the agents that share feeders with an agent, by row id, those with most feeders first."""
        span = slice(int(self.overlap.indptr[agent]), int(self.overlap.indptr[agent + 1]))
        others, accounts = self.overlap.indices[span], self.overlap.data[span]
        order = np.lexsort((others, -accounts))
        return {
            "agents": [
                {"agent": int(agents.ids[others[at]]), "accounts": int(accounts[at])}
                for at in order[:MAX_AGENTS]
                if others[at] != agent
            ],
            "agentsInAll": int((others != agent).sum()),
        }


def find_shared_feeders(audience: Audience, reporters: Int64Array) -> SharedFeeders:
    """Compare all agents of one reporter that have returning accounts in common; see `links` for the reason."""
    returns = _returning_matrix(audience)
    returning = audience.pair_count >= _MIN_RETURNS
    returning_counts = np.bincount(audience.pair_agent[returning], minlength=audience.agents).astype(np.float64)
    everyone = comparison_accounts(audience, returning, reporters, others=_OTHERS)
    overlap = _overlaps(returns, returning_counts, np.maximum(everyone, 1), reporters)
    return SharedFeeders(overlap, _feeders(audience, overlap))


def _returning_matrix(audience: Audience) -> Matrix:
    """Return the matrix of agents by accounts: 1 if the account comes back; per account, its busiest agents only."""
    pairs = np.flatnonzero(audience.pair_count >= _MIN_RETURNS).astype(np.int32)
    actors = audience.pair_actor[pairs]
    pairs = pairs[np.bincount(actors, minlength=len(audience.fids))[actors] >= 2]
    pairs = pairs[np.lexsort((audience.pair_agent[pairs], -audience.pair_count[pairs], audience.pair_actor[pairs]))]
    starts = run_starts(audience.pair_actor[pairs])
    rank = np.arange(len(pairs)) - np.repeat(starts, run_lengths(starts, len(pairs)))
    pairs = pairs[rank < _MAX_AGENTS_OF_ACCOUNT]
    return sparse.csr_array(
        (np.ones(len(pairs), np.int32), (audience.pair_agent[pairs], audience.pair_actor[pairs])),
        shape=(audience.agents, len(audience.fids)),
    )


def _overlaps(returns: Matrix, returning_counts: Float64Array, everyone: Float64Array, reporters: Int64Array) -> Matrix:
    """Return, per agent that shares feeders, itself and the others, with the number of accounts that return to both."""
    rows, columns, values = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    transposed = returns.T.tocsr()
    for first in range(0, returns.shape[0], _CHUNK):
        both = (returns[first : first + _CHUNK] @ transposed).tocoo()
        row, column, value = both.row + first, both.col, both.data
        chance = returning_counts[row] * returning_counts[column] / everyone[row]
        selected = (value >= _MIN_SHARED) & (value >= _TIMES_CHANCE * chance + 2) & (row != column)
        selected &= value >= _MIN_OVERLAP * np.sqrt(returning_counts[row] * returning_counts[column])
        selected &= reporters[row] == reporters[column]
        rows.append(row[selected].astype(np.int32))
        columns.append(column[selected].astype(np.int32))
        values.append(value[selected].astype(np.int32))
    row, column, value = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    ringed = np.unique(row)
    row, column = np.append(row, ringed), np.append(column, ringed)
    value = np.append(value, returning_counts[ringed].astype(np.int32))
    return sparse.csr_array((value, (row, column)), shape=(returns.shape[0], returns.shape[0]))


def _feeders(audience: Audience, overlap: Matrix) -> BoolArray:
    """Mask pairs with an account that feeds the agent's ring, and hardly any other agent."""
    feeds = np.zeros(len(audience.pair_agent), np.bool_)
    shape = (audience.agents, len(audience.fids))
    counts = sparse.csr_array((audience.pair_count, audience.pair_actor, audience.starts), shape=shape)
    ones = sparse.csr_array((np.ones(len(feeds), np.int32), audience.pair_actor, audience.starts), shape=shape)
    total = interactions_by_account(audience)
    sizes = np.diff(overlap.indptr)
    ringed = np.flatnonzero(sizes)
    for first in range(0, len(ringed), _CHUNK):
        agents = ringed[first : first + _CHUNK]
        ring = overlap[agents]
        ring.data = np.ones(len(ring.data), np.int32)
        own = ones[agents]
        # Each agent is in its own ring, so the products have an entry for each of the agent's pairs.
        within, fed = (ring @ counts).multiply(own).tocsr(), (ring @ ones).multiply(own).tocsr()
        within.sort_indices()
        fed.sort_indices()
        pairs = _pairs(audience, agents)
        size = np.repeat(sizes[agents], np.diff(own.indptr))
        enough = (total[audience.pair_actor[pairs]] >= _MIN_FED) & (fed.data >= 2) & (fed.data >= _FED_AGENTS * size)
        feeds[pairs] = enough & (within.data >= _FED_SHARE * total[audience.pair_actor[pairs]])
    return feeds


def _pairs(audience: Audience, agents: Int64Array) -> Int32Array:
    """Return the pairs of some agents, one agent after the other."""
    return np.concatenate(
        [np.arange(audience.starts[agent], audience.starts[agent + 1], dtype=np.int32) for agent in agents]
    )
