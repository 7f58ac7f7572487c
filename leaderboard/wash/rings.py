"""RECIPROCAL_RING: agents that interact with each other, or that share accounts which serve hardly any other agent.

A ring among agents is a strongly connected component of the interaction graph (`links`). A ring by feeders is an agent
with the agents to which the same accounts come back (`shared_feeders`).
"""

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import IntervalFacts
from leaderboard.wash.evidence_accounts import list_accounts, select_pairs, share
from leaderboard.wash.findings import Evidence, Finding, Ramp, Sign
from leaderboard.wash.links import find_links
from leaderboard.wash.shared_feeders import find_shared_feeders

FLAG = "RECIPROCAL_RING"
WEIGHT = 0.75
MEMBERS = Ramp(0.25, 0.6)
FEEDERS = Ramp(0.2, 0.6)
# Added to the total, so that a handful of friends is no ring.
SMALL_NUMBER_ALLOWANCE = 20


def detect(facts: IntervalFacts, audience: Audience) -> Finding:
    """Measure the shares of interactions from members of the agent's ring, and from feeders of only this ring."""
    links, shared = find_links(facts, audience), find_shared_feeders(audience, facts.reporter_numbers())
    received = audience.interactions + links.own
    fed = audience.per_agent(np.where(shared.feeds, audience.pair_count, 0))

    def describe(agent: int) -> Evidence:
        return {
            "interactions": int(audience.interactions[agent]),
            "own": int(links.own[agent]),
            "doubt": SMALL_NUMBER_ALLOWANCE,
            "members": links.describe(agent),
            "sharedWith": shared.describe(agent, facts.agents),
            "feeders": list_accounts(audience, select_pairs(audience, agent, shared.feeds)),
        }

    return Finding(
        (
            Sign("members", share(links.within + links.own, received, allowance=SMALL_NUMBER_ALLOWANCE), MEMBERS),
            Sign("feeders", share(fed, audience.interactions, allowance=SMALL_NUMBER_ALLOWANCE), FEEDERS),
        ),
        describe,
    )
