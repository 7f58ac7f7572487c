"""Links from agents and their creators to agents, and the rings that these links close.

The graph has a node for each agent and each creator. It has an edge from an account to each agent it interacts with,
and one from each agent to its creator, since interactions with the agent profit the creator. So a ring also closes
where creators interact with each other's agents.

Each reporter has a graph of its own. FIDs, creators and interactions are unverified reports. In a shared graph a
reporter could close a ring around a rival by naming the rival's fans as creators of its own agents.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Agents, Float64Array, Int32Array, Int64Array, IntervalFacts
from leaderboard.facts.grouping import find_positions
from leaderboard.wash.findings import Evidence

# A link can close a ring if it has this many interactions and this share of all that the agent receives.
_MIN_LINK = 3
_MIN_LINK_SHARE = 0.01
# An agent's reply to its own cast is a thread.
_REPLY = 3
MAX_AGENTS = 40
MAX_EDGES = 40


@dataclass(frozen=True)
class Links:
    """Pairs of agent and account within one component, by component and weight: giver, receiver, interactions."""

    agents: Agents
    fid: Int64Array
    receiver: Int32Array
    interactions: Int32Array
    # Component of each agent; component i has the links and the agents from `starts[i]` to `starts[i + 1]`.
    component: Int32Array
    starts: Int32Array
    by_component: Int32Array
    agent_starts: Int32Array
    # Of each agent: interactions from within its component, and its likes, recasts and quotes of its own casts.
    within: Float64Array
    own: Float64Array

    def describe(self, agent: int) -> Evidence:
        """Return the agents of an agent's component by row id, the links to it, and the heaviest other links."""
        component = int(self.component[agent])
        ring = self.by_component[self.agent_starts[component] : self.agent_starts[component + 1]]
        rows = np.arange(self.starts[component], self.starts[component + 1])
        into, among = rows[self.receiver[rows] == agent], rows[self.receiver[rows] != agent]
        return {
            "agents": self.agents.ids[ring[:MAX_AGENTS]].tolist(),
            "agentsInAll": len(ring),
            "into": self._edges(into),
            "among": self._edges(among),
        }

    def _edges(self, rows: Int64Array) -> Evidence:
        return {
            "listed": [
                {
                    "fid": int(self.fid[row]),
                    "agent": int(self.agents.ids[self.receiver[row]]),
                    "interactions": int(self.interactions[row]),
                }
                for row in rows[:MAX_EDGES]
            ],
            "others": {
                "edges": len(rows[MAX_EDGES:]),
                "interactions": int(self.interactions[rows[MAX_EDGES:]].sum()),
            },
        }


def find_links(facts: IntervalFacts, audience: Audience) -> Links:
    """Find all interactions of agents and creators with agents, and the components that strong links close."""
    agents, number = facts.agents, audience.agents
    reported_fids = _reported_fids(agents, facts.reporter_numbers())
    entry = reported_fids.find_entries(audience.pair_agent, audience.fids, audience.pair_actor)
    pairs = np.flatnonzero(entry >= 0)
    giver, receiver = reported_fids.nodes[entry[pairs]], audience.pair_agent[pairs]
    interactions = audience.pair_count[pairs]
    strong = interactions >= np.maximum(_MIN_LINK, _MIN_LINK_SHARE * audience.interactions[receiver])
    with_creator = np.flatnonzero(reported_fids.creators >= 0)
    start, end = (
        np.append(giver[strong], with_creator),
        np.append(receiver[strong], reported_fids.creators[with_creator]),
    )
    size = number + len(reported_fids.nodes)
    graph = sparse.csr_array((np.ones(len(start), np.int8), (start, end)), shape=(size, size))
    component = connected_components(graph, connection="strong")[1].astype(np.int32)
    inside = np.flatnonzero(component[giver] == component[receiver])
    # Pairs are sorted by receiver and FID, which breaks ties between links of equal weight.
    inside = inside[np.lexsort((-interactions[inside], component[giver[inside]]))]
    by_component = np.argsort(component[:number], kind="stable").astype(np.int32)
    components = np.arange(size + 1, dtype=np.int32)
    return Links(
        agents=agents,
        fid=audience.fids[audience.pair_actor[pairs[inside]]],
        receiver=receiver[inside],
        interactions=interactions[inside],
        component=component[:number],
        starts=np.searchsorted(component[giver[inside]], components).astype(np.int32),
        by_component=by_component,
        agent_starts=np.searchsorted(component[by_component], components).astype(np.int32),
        within=np.bincount(receiver[inside], interactions[inside], number).astype(np.float64, copy=False),
        own=_self_interactions(facts),
    )


@dataclass(frozen=True)
class _ReportedFids:
    """FIDs of agents and creators, each once per reporter that names it; `keys` are sorted."""

    reporters: Int64Array
    fids: Int64Array
    keys: Int64Array
    # Node of each entry (an agent's own FID has the agent's node), and of each agent's creator (-1 if unknown).
    nodes: Int32Array
    creators: Int32Array

    def find_entries(self, receiver: Int32Array, fids: Int64Array, giver: Int32Array) -> Int32Array:
        """Return each giver's node entry in the graph of the receiver's reporter, by index in `fids`; -1 if none."""
        places = find_positions(self.fids, fids)[giver]
        entries = np.full(len(giver), -1, np.int32)
        some = np.flatnonzero(places >= 0)
        entries[some] = find_positions(self.keys, _keys(self.reporters[receiver[some]], places[some], len(self.fids)))
        return entries


def _reported_fids(agents: Agents, reporters: Int64Array) -> _ReportedFids:
    number = len(agents.ids)
    fids = np.union1d(agents.fids, agents.creator_fids)
    fids = fids[fids > 0]
    own = _keys(reporters, find_positions(fids, agents.fids), len(fids))
    creators = _keys(reporters, find_positions(fids, agents.creator_fids), len(fids))
    keys = np.union1d(own, creators)
    keys = keys[keys >= 0]
    nodes = np.arange(number, number + len(keys), dtype=np.int32)
    own_index, creator_index = find_positions(keys, own), find_positions(keys, creators)
    nodes[own_index[own_index >= 0]] = np.flatnonzero(own_index >= 0)
    creator_nodes = np.where(creator_index >= 0, nodes[creator_index] if len(nodes) else -1, -1).astype(np.int32)
    return _ReportedFids(reporters, fids, keys, nodes, creator_nodes)


def _keys(reporters: Int64Array, places: Int32Array, count: int) -> Int64Array:
    """Return a number for each pair of reporter and index among `count` FIDs; -1 where there is none."""
    return np.where(places >= 0, reporters * count + places, -1).astype(np.int64, copy=False)


def _self_interactions(facts: IntervalFacts) -> Float64Array:
    interactions = facts.interactions
    own = (interactions.actor == facts.agents.fids[interactions.agent]) & (interactions.kind != _REPLY)
    return np.bincount(interactions.agent[own], minlength=len(facts.agents.ids)).astype(np.float64)
