"""RECIPROCAL_RING: agents that feed each other, or that the same accounts feed, which feed hardly anyone else.

A ring among agents is a strongly connected component of who interacts with whom (`links`); a ring by feeders is an
agent and those agents to which the same accounts come back (`shared_feeders`).
"""

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Facts
from leaderboard.wash.evidence_accounts import listed, pairs_of, share
from leaderboard.wash.findings import Evidence, Finding, Ramp, Sign
from leaderboard.wash.links import find_links
from leaderboard.wash.shared_feeders import find_shared

FLAG = "RECIPROCAL_RING"
WEIGHT = 0.75
MEMBERS = Ramp(0.25, 0.6)
FEEDERS = Ramp(0.2, 0.6)
# Added to the whole, so that a handful of friends is no ring.
DOUBT = 20


def find(facts: Facts, audience: Audience) -> Finding:
    """The share of interactions from members of the agent's own ring, and from accounts that feed its ring alone."""
    links, shared = find_links(facts, audience), find_shared(audience, facts.reporter_numbers())
    received = audience.interactions + links.own
    fed = audience.per_agent(np.where(shared.feeds, audience.pair_count, 0))

    def describe(agent: int) -> Evidence:
        return {
            "interactions": int(audience.interactions[agent]),
            "own": int(links.own[agent]),
            "doubt": DOUBT,
            "members": links.describe(agent),
            "sharedWith": shared.describe(agent, facts.agents),
            "feeders": listed(audience, pairs_of(audience, agent, shared.feeds)),
        }

    return Finding(
        (
            Sign("members", share(links.within + links.own, received, doubt=DOUBT), MEMBERS),
            Sign("feeders", share(fed, audience.interactions, doubt=DOUBT), FEEDERS),
        ),
        describe,
    )
