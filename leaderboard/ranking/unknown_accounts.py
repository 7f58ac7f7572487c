"""Accounts whose social score nobody knows: what they count for, and that they hide nothing.

Who reports interactions can make accounts up, as many as he likes. So they are no proof of reach: together they count
for little more than what stands beside them. Nor is anybody accused for them, as we merely don't know them.
"""

from dataclasses import dataclass

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Real, Truth, Whole
from leaderboard.wash.findings import Evidence

# What they may sum up to in the end: so much, and half of what the known accounts do.
ALLOWANCE = 5.0
BESIDE_KNOWN = 0.5
# With a larger share of interactions from them, too little is known of an agent's audience.
MOST = 2 / 3
# Added to the interactions, so that a handful of unknown accounts is no large share.
DOUBT = 5


@dataclass(frozen=True)
class Unknown:
    """Of each agent: its interactions, and those of them that are from accounts of unknown score."""

    interactions: Whole
    from_unknown: Real

    @property
    def are_most(self) -> Truth:
        """Whether so many are unknown that too little is known of an agent's audience."""
        most: Truth = self.from_unknown > MOST * (self.interactions + DOUBT)
        return most

    def describe(self, agent: int) -> Evidence:
        """What an agent's audience was too little known by."""
        return {
            "interactions": int(self.interactions[agent]),
            "fromUnknownAccounts": int(self.from_unknown[agent]),
            "most": round(MOST, 4),
            "doubt": DOUBT,
        }


def bounded(known: Real, unknown: Real) -> Real:
    """The sum of what known and unknown accounts count for: more of either is more, but the unknown soon count less."""
    most = ALLOWANCE + BESIDE_KNOWN * known
    summed: Real = known + unknown * most / (unknown + most)
    return summed


def find(audience: Audience) -> Unknown:
    """Counts each agent's interactions from unknown accounts."""
    return Unknown(audience.interactions, audience.per_agent(audience.is_unknown * audience.pair_count))


def uncovered(audience: Audience, unknown: Unknown, *, least: int) -> Audience:
    """The audience by which agents are judged: where most of it is unknown, the known accounts alone.

    Wash would else drown in accounts that are made up. An agent with fewer than `least` interactions from known
    accounts keeps its whole audience.
    """
    drowned = unknown.are_most & (unknown.interactions - unknown.from_unknown >= least)
    dropped = audience.is_unknown & drowned[audience.pair_agent]
    return audience.without(dropped) if dropped.any() else audience
