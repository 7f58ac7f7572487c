"""Treatment of accounts with unknown social scores: bounded weight, and no cover for wash.

A reporter can invent any number of accounts. So unknown accounts are no proof of reach: together they count for little
more than the known accounts beside them. They are no proof of wash either, since a missing score has other causes.
"""

from dataclasses import dataclass

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import BoolArray, Float64Array, Int64Array
from leaderboard.wash.findings import Evidence

# Upper bound of their total weight: a constant, plus a fraction of the known accounts' weight.
UNKNOWN_ALLOWANCE = 5.0
UNKNOWN_PER_KNOWN = 0.5
# With a larger share of unknown interactions an audience cannot be assessed.
MAX_UNKNOWN_SHARE = 2 / 3
# Added to the interactions, so that a handful of unknown accounts is no large share.
SMALL_NUMBER_ALLOWANCE = 5


@dataclass(frozen=True)
class UnknownShare:
    """Interactions of each agent, and those of them from accounts of unknown score."""

    interactions: Int64Array
    from_unknown: Float64Array

    @property
    def is_majority(self) -> BoolArray:
        """Mask of the agents with too many unknown interactions to assess their audience."""
        majority: BoolArray = self.from_unknown > MAX_UNKNOWN_SHARE * (self.interactions + SMALL_NUMBER_ALLOWANCE)
        return majority

    def describe(self, agent: int) -> Evidence:
        """Return the evidence for an agent's flag INSUFFICIENT_DATA."""
        return {
            "interactions": int(self.interactions[agent]),
            "fromUnknownAccounts": int(self.from_unknown[agent]),
            "most": round(MAX_UNKNOWN_SHARE, 4),
            "doubt": SMALL_NUMBER_ALLOWANCE,
        }


def bounded_sum(known: Float64Array, unknown: Float64Array) -> Float64Array:
    """Return the total weight of known and unknown accounts; grows with both, but the unknown part saturates."""
    limit = UNKNOWN_ALLOWANCE + UNKNOWN_PER_KNOWN * known
    total: Float64Array = known + unknown * limit / (unknown + limit)
    return total


def measure_unknown_share(audience: Audience) -> UnknownShare:
    """Count each agent's interactions from unknown accounts."""
    return UnknownShare(audience.interactions, audience.per_agent(audience.is_unknown * audience.pair_count))


def without_unknown_majority(audience: Audience, unknown: UnknownShare, *, least: int) -> Audience:
    """Return the audience for wash detection, which leaves out unknown accounts where they are the majority.

    Otherwise invented accounts would dilute wash. An agent with fewer than `least` interactions from known accounts
    keeps its whole audience.
    """
    has_cover = unknown.is_majority & (unknown.interactions - unknown.from_unknown >= least)
    dropped = audience.is_unknown & has_cover[audience.pair_agent]
    return audience.without(dropped) if dropped.any() else audience
