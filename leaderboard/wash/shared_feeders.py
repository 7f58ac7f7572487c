"""Agents to which the same accounts come back, and the accounts that come to these agents alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Agents, Index, Real, Truth, Whole
from leaderboard.facts.grouping import beginnings, lengths
from leaderboard.wash.evidence_accounts import totals
from leaderboard.wash.findings import Evidence
from leaderboard.wash.reporters import accounts_around

# An account comes back to an agent if it interacts so often; of each account the agents that get most are looked at.
_MIN_RETURNS = 2
_MAX_AGENTS_OF_ACCOUNT = 12
# Two agents share feeders if so many accounts come back to both, so many times more than chance has it, and these are
# that share of the geometric mean of both agents' returning accounts.
_MIN_SHARED = 4
_TIMES_CHANCE = 4
_MIN_OVERLAP = 0.15
# Chance has it among the accounts that come back to agents of the same reporter, and so many of others.
_OTHERS = 500
# A feeder has so many interactions or more, this share of them with the ring, and with that share of its agents.
_MIN_FED = 6
_FED_SHARE = 0.8
_FED_AGENTS = 0.75
# Agents whose rings are worked out at a time, so that the products of their matrices stay small.
_CHUNK = 512
MAX_AGENTS = 40

Matrix = sparse.csr_array[Any, tuple[int, int]]


@dataclass(frozen=True)
class Shared:
    """Which agents share feeders with which, and whether each pair of the audience is a feeder's."""

    # Of each agent, itself and those it shares feeders with: the number of accounts that come back to both.
    overlap: Matrix
    feeds: Truth

    def describe(self, agent: int, agents: Agents) -> Evidence:
        """The agents with which an agent shares feeders, by row id, those with most first."""
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


def find_shared(audience: Audience, reporters: Whole) -> Shared:
    """Compares all agents that have returning accounts in common, and one who tells of both: see `links`."""
    back = _coming_back(audience)
    returning = audience.pair_count >= _MIN_RETURNS
    coming = np.bincount(audience.pair_agent[returning], minlength=audience.agents).astype(np.float64)
    everyone = accounts_around(audience, returning, reporters, others=_OTHERS)
    overlap = _overlaps(back, coming, np.maximum(everyone, 1), reporters)
    return Shared(overlap, _feeders(audience, overlap))


def _coming_back(audience: Audience) -> Matrix:
    """Agents by accounts: 1 where the account comes back, of each account for the agents with most of it."""
    pairs = np.flatnonzero(audience.pair_count >= _MIN_RETURNS).astype(np.int32)
    actors = audience.pair_actor[pairs]
    pairs = pairs[np.bincount(actors, minlength=len(audience.fids))[actors] >= 2]
    pairs = pairs[np.lexsort((audience.pair_agent[pairs], -audience.pair_count[pairs], audience.pair_actor[pairs]))]
    starts = beginnings(audience.pair_actor[pairs])
    rank = np.arange(len(pairs)) - np.repeat(starts, lengths(starts, len(pairs)))
    pairs = pairs[rank < _MAX_AGENTS_OF_ACCOUNT]
    return sparse.csr_array(
        (np.ones(len(pairs), np.int32), (audience.pair_agent[pairs], audience.pair_actor[pairs])),
        shape=(audience.agents, len(audience.fids)),
    )


def _overlaps(back: Matrix, coming: Real, everyone: Real, reporters: Whole) -> Matrix:
    """For each agent that shares feeders: it and those it shares with, by the accounts that come back to both."""
    rows, columns, values = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    turned = back.T.tocsr()
    for first in range(0, back.shape[0], _CHUNK):
        both = (back[first : first + _CHUNK] @ turned).tocoo()
        row, column, value = both.row + first, both.col, both.data
        chance = coming[row] * coming[column] / everyone[row]
        kept = (value >= _MIN_SHARED) & (value >= _TIMES_CHANCE * chance + 2) & (row != column)
        kept &= value >= _MIN_OVERLAP * np.sqrt(coming[row] * coming[column])
        kept &= reporters[row] == reporters[column]
        rows.append(row[kept].astype(np.int32))
        columns.append(column[kept].astype(np.int32))
        values.append(value[kept].astype(np.int32))
    row, column, value = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    ringed = np.unique(row)
    row, column = np.append(row, ringed), np.append(column, ringed)
    value = np.append(value, coming[ringed].astype(np.int32))
    return sparse.csr_array((value, (row, column)), shape=(back.shape[0], back.shape[0]))


def _feeders(audience: Audience, overlap: Matrix) -> Truth:
    """Whether each pair's account feeds the agent's ring, and hardly anyone else."""
    feeds = np.zeros(len(audience.pair_agent), np.bool_)
    shape = (audience.agents, len(audience.fids))
    counts = sparse.csr_array((audience.pair_count, audience.pair_actor, audience.starts), shape=shape)
    ones = sparse.csr_array((np.ones(len(feeds), np.int32), audience.pair_actor, audience.starts), shape=shape)
    total = totals(audience)
    sizes = np.diff(overlap.indptr)
    ringed = np.flatnonzero(sizes)
    for first in range(0, len(ringed), _CHUNK):
        agents = ringed[first : first + _CHUNK]
        ring = overlap[agents]
        ring.data = np.ones(len(ring.data), np.int32)
        own = ones[agents]
        # Each agent is in its own ring, so that the products have a value wherever the agent has a pair.
        within, fed = (ring @ counts).multiply(own).tocsr(), (ring @ ones).multiply(own).tocsr()
        within.sort_indices()
        fed.sort_indices()
        pairs = _pairs(audience, agents)
        size = np.repeat(sizes[agents], np.diff(own.indptr))
        enough = (total[audience.pair_actor[pairs]] >= _MIN_FED) & (fed.data >= 2) & (fed.data >= _FED_AGENTS * size)
        feeds[pairs] = enough & (within.data >= _FED_SHARE * total[audience.pair_actor[pairs]])
    return feeds


def _pairs(audience: Audience, agents: Whole) -> Index:
    """The pairs of some agents, one agent after the other."""
    return np.concatenate(
        [np.arange(audience.starts[agent], audience.starts[agent + 1], dtype=np.int32) for agent in agents]
    )
