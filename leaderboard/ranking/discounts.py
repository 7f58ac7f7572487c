"""Discounts: audience accounts that count only up to a limit, with their meaning for operators.

Whether a discount applies to an account must depend on the account's own actions, or on the agent's own reports.
Other accounts, wallets and keys then never lower an agent's score.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import BoolArray, Float64Array, IntervalFacts


@dataclass(frozen=True)
class Discount:
    """Discount: its flag and meaning for operators, the pairs it applies to, and their weight limit."""

    flag: str
    meaning: str
    # Returns the mask over (agent, account) pairs.
    find: Callable[[IntervalFacts, Audience], BoolArray]
    # Together the pairs count less than `allowance` plus `per_other` times the weight of the agent's other accounts.
    allowance: float
    per_other: float

    def limit(self, others: Float64Array) -> Float64Array:
        """Return the limit for each agent, from its other accounts' weight."""
        return self.allowance + self.per_other * others


def bounded(weight: Float64Array, limit: Float64Array) -> Float64Array:
    """Return the part of a weight that counts: small weights almost in full, any weight less than the limit."""
    counted: Float64Array = weight * limit / (weight + limit)
    return counted


def find_unconfirmed(facts: IntervalFacts, audience: Audience) -> BoolArray:
    """Mask the pairs without a confirmed interaction: only the agent's own side has reported them."""
    return ~audience.is_confirmed


def find_narrow(facts: IntervalFacts, audience: Audience) -> BoolArray:
    """Mask the pairs with an account that has no confirmed interaction with another owner's agent.

    An owner's reports about its own agents can't widen them.
    """
    owner_of = facts.owner_numbers()
    owners = owner_of[audience.pair_agent]
    actors, confirmed_owners = audience.pair_actor[audience.is_confirmed], owners[audience.is_confirmed]
    lowest = np.full(len(audience.fids), np.iinfo(np.int64).max)
    highest = np.full(len(audience.fids), -1)
    np.minimum.at(lowest, actors, confirmed_owners)
    np.maximum.at(highest, actors, confirmed_owners)
    # Without a confirmed interaction, nothing is below or above.
    return (lowest[audience.pair_actor] >= owners) & (highest[audience.pair_actor] <= owners)


# The strictest discount comes first; the next discount's weight includes its counted weight.
DISCOUNTS = (
    Discount(
        flag="UNCONFIRMED",
        meaning="Neither the hub nor the operator has confirmed an interaction of these accounts in the last seven "
        "days, or in the interval if it is longer, or the agent has not proven its FID.",
        find=find_unconfirmed,
        allowance=0.01,
        per_other=0.05,
    ),
    Discount(
        flag="NARROW",
        meaning="All confirmed interactions of these accounts in the last seven days, or in the interval if it is "
        "longer, are with agents of one owner.",
        find=find_narrow,
        allowance=8.0,
        per_other=0.25,
    ),
)
