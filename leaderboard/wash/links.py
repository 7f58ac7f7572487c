"""Interactions of agents and their creators with agents, and the rings that these close.

The graph has a node for each agent and each creator. It has an edge from who interacts to the agent, and one from each
agent to its creator, who profits by what the agent gets. So a ring closes also where creators feed each other's agents.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from leaderboard.audiences import Audience
from leaderboard.columns import Agents, Facts, Index, Real, Truth, Whole
from leaderboard.grouping import positions
from leaderboard.wash.findings import Evidence

# So many interactions or more make a link that can close a ring, if they are this share of what the agent gets.
_MIN_LINK = 3
_MIN_LINK_SHARE = 0.01
# An agent's reply to its own cast is a thread.
_REPLY = 3
MAX_AGENTS = 40
MAX_EDGES = 80


@dataclass(frozen=True)
class Links:
    """Pairs of which the account is an agent or a creator: who gives, who gets, how often."""

    agents: Agents
    # Nodes: agents by their index, then creators.
    giver: Index
    fid: Whole
    receiver: Index
    interactions: Index
    # The component of each node, and whether each link lies within one.
    component: Index
    inside: Truth
    # Of each agent: interactions from within its component, and its likes, recasts and quotes of its own casts.
    within: Real
    own: Real

    def describe(self, agent: int) -> Evidence:
        """The agents of an agent's component by row id, the links into it, and the heaviest among the others."""
        ring = np.flatnonzero(self.component[: len(self.agents.ids)] == self.component[agent])
        rows = np.flatnonzero(self.inside & (self.component[self.giver] == self.component[agent]))
        rows = rows[np.lexsort((self.fid[rows], self.receiver[rows], -self.interactions[rows]))]
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
    fids, nodes, creators = _voices(agents)
    voice = positions(fids, audience.fids)[audience.pair_actor]
    pairs = np.flatnonzero(voice >= 0)
    giver, receiver = nodes[voice[pairs]], audience.pair_agent[pairs]
    interactions = audience.pair_count[pairs]
    strong = interactions >= np.maximum(_MIN_LINK, _MIN_LINK_SHARE * audience.interactions[receiver])
    made = np.flatnonzero(creators >= 0)
    start, end = np.append(giver[strong], made), np.append(receiver[strong], creators[made])
    size = number + len(fids)
    graph = sparse.csr_array((np.ones(len(start), np.int8), (start, end)), shape=(size, size))
    component = connected_components(graph, connection="strong")[1].astype(np.int32)
    inside = component[giver] == component[receiver]
    return Links(
        agents=agents,
        giver=giver,
        fid=audience.fids[audience.pair_actor[pairs]],
        receiver=receiver,
        interactions=interactions,
        component=component,
        inside=inside,
        within=np.bincount(receiver[inside], interactions[inside], number).astype(np.float64, copy=False),
        own=_own(facts),
    )


def _voices(agents: Agents) -> tuple[Whole, Index, Index]:
    """FIDs of agents and creators, sorted, the node of each, and the node of each agent's creator (-1 if unknown)."""
    number = len(agents.ids)
    fids = np.union1d(agents.fids, agents.creator_fids)
    fids = fids[fids > 0]
    nodes = np.arange(number, number + len(fids), dtype=np.int32)
    own = positions(fids, agents.fids)
    nodes[own[own >= 0]] = np.flatnonzero(own >= 0)
    creators = positions(fids, agents.creator_fids)
    return fids, nodes, np.where(creators >= 0, nodes[creators] if len(nodes) else -1, -1).astype(np.int32)


def _own(facts: Facts) -> Real:
    interactions = facts.interactions
    own = (interactions.actor == facts.agents.fids[interactions.agent]) & (interactions.kind != _REPLY)
    return np.bincount(interactions.agent[own], minlength=len(facts.agents.ids)).astype(np.float64)
