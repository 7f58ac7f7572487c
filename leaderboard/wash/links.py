"""Interactions of agents and their creators with agents, and the rings that these close.

The graph has a node for each agent and each creator. It has an edge from who interacts to the agent, and one from each
agent to its creator, who profits by what the agent gets. So a ring closes also where creators feed each other's agents.

Each one who tells of agents has a graph of his own. Whose FID, whose creator and whose interaction something is, is his
word: in one graph he could close a ring around a rival by naming the rival's fans as creators of his own agents.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Agents, Facts, Index, Real, Whole
from leaderboard.facts.grouping import positions
from leaderboard.wash.findings import Evidence

# So many interactions or more make a link that can close a ring, if they are this share of what the agent gets.
_MIN_LINK = 3
_MIN_LINK_SHARE = 0.01
# An agent's reply to its own cast is a thread.
_REPLY = 3
MAX_AGENTS = 40
MAX_EDGES = 40


@dataclass(frozen=True)
class Links:
    """Pairs of agent and account within one component, by component and weight: who gives, who gets, how often."""

    agents: Agents
    fid: Whole
    receiver: Index
    interactions: Index
    # Of each agent its component; component i has the links and the agents from `starts[i]` up to `starts[i + 1]`.
    component: Index
    starts: Index
    by_component: Index
    agent_starts: Index
    # Of each agent: interactions from within its component, and its likes, recasts and quotes of its own casts.
    within: Real
    own: Real

    def describe(self, agent: int) -> Evidence:
        """The agents of an agent's component by row id, the links into it, and the heaviest among the others."""
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

    def _edges(self, rows: Whole) -> Evidence:
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


def find_links(facts: Facts, audience: Audience) -> Links:
    """All interactions of agents and creators with agents, and the components that those of weight close."""
    agents, number = facts.agents, audience.agents
    voices = _voices(agents, facts.reporter_numbers())
    voice = voices.find(audience.pair_agent, audience.fids, audience.pair_actor)
    pairs = np.flatnonzero(voice >= 0)
    giver, receiver = voices.nodes[voice[pairs]], audience.pair_agent[pairs]
    interactions = audience.pair_count[pairs]
    strong = interactions >= np.maximum(_MIN_LINK, _MIN_LINK_SHARE * audience.interactions[receiver])
    made = np.flatnonzero(voices.creators >= 0)
    start, end = np.append(giver[strong], made), np.append(receiver[strong], voices.creators[made])
    size = number + len(voices.nodes)
    graph = sparse.csr_array((np.ones(len(start), np.int8), (start, end)), shape=(size, size))
    component = connected_components(graph, connection="strong")[1].astype(np.int32)
    inside = np.flatnonzero(component[giver] == component[receiver])
    # Pairs are sorted by receiver and FID, which settles links of one weight.
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
        own=_own(facts),
    )


@dataclass(frozen=True)
class _Voices:
    """FIDs of agents and creators, each once for everybody who tells of such: `keys` are sorted."""

    reporters: Whole
    fids: Whole
    keys: Whole
    # The node of each, which is an agent's for its own FID, and the node of each agent's creator (-1 if unknown).
    nodes: Index
    creators: Index

    def find(self, receiver: Index, fids: Whole, giver: Index) -> Index:
        """The voices of those who give, as who tells of the receiver knows them, by places in `fids`; -1 of others."""
        places = positions(self.fids, fids)[giver]
        voices = np.full(len(giver), -1, np.int32)
        some = np.flatnonzero(places >= 0)
        voices[some] = positions(self.keys, _keys(self.reporters[receiver[some]], places[some], len(self.fids)))
        return voices


def _voices(agents: Agents, reporters: Whole) -> _Voices:
    number = len(agents.ids)
    fids = np.union1d(agents.fids, agents.creator_fids)
    fids = fids[fids > 0]
    own = _keys(reporters, positions(fids, agents.fids), len(fids))
    creators = _keys(reporters, positions(fids, agents.creator_fids), len(fids))
    keys = np.union1d(own, creators)
    keys = keys[keys >= 0]
    nodes = np.arange(number, number + len(keys), dtype=np.int32)
    mine, made_by = positions(keys, own), positions(keys, creators)
    nodes[mine[mine >= 0]] = np.flatnonzero(mine >= 0)
    makers = np.where(made_by >= 0, nodes[made_by] if len(nodes) else -1, -1).astype(np.int32)
    return _Voices(reporters, fids, keys, nodes, makers)


def _keys(reporters: Whole, places: Index, count: int) -> Whole:
    """A number for each reporter and place among so many FIDs; -1 where there is none."""
    return np.where(places >= 0, reporters * count + places, -1).astype(np.int64, copy=False)


def _own(facts: Facts) -> Real:
    interactions = facts.interactions
    own = (interactions.actor == facts.agents.fids[interactions.agent]) & (interactions.kind != _REPLY)
    return np.bincount(interactions.agent[own], minlength=len(facts.agents.ids)).astype(np.float64)
