"""CONCENTRATED: few accounts make most of an agent's interactions, or accounts devoted to this agent do.

The effective number of accounts is 1 / HHI, where HHI is the sum of the squared shares of the accounts.
"""

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Float64Array, IntervalFacts
from leaderboard.wash.evidence_accounts import interactions_by_account, list_accounts, select_pairs, share
from leaderboard.wash.findings import Evidence, Finding, Ramp, Sign

FLAG = "CONCENTRATED"
WEIGHT = 0.6
SHORTFALL = Ramp(0.58, 0.74)
# Honest agents with a narrow subject have devoted fans, too.
DEVOTED = Ramp(0.1, 0.4, top=0.75)
# The usual number of effective accounts is the number of interactions to this power.
USUAL_POWER = 0.8
# Over more than a week the same people come back, so the usual number is that of one week's interactions.
USUAL_SECONDS = 7 * 86_400
# Added to the interactions in the denominators: a small circle of friends looks concentrated, too.
SHORTFALL_ALLOWANCE = 80
DEVOTED_ALLOWANCE = 25
# A devoted account has at least this many interactions with the agent, and this share of all its interactions.
_MIN_DEVOTED = 4
_DEVOTED_SHARE = 0.8


def detect(facts: IntervalFacts, audience: Audience) -> Finding:
    """Measure the shortfall of effective accounts against the usual number, and the share of devoted accounts."""
    interactions, weeks = audience.interactions, max(facts.seconds / USUAL_SECONDS, 1.0)
    squares = audience.per_agent(audience.pair_count.astype(np.float64) ** 2)
    total = interactions_by_account(audience)[audience.pair_actor]
    devoted = (audience.pair_count >= _MIN_DEVOTED) & (audience.pair_count >= _DEVOTED_SHARE * total)
    by_devoted = audience.per_agent(devoted * audience.pair_count)

    def describe(agent: int) -> Evidence:
        own = audience.pairs_of(agent)
        return {
            "interactions": int(interactions[agent]),
            "usualPower": USUAL_POWER,
            "weeks": weeks,
            "doubt": {"shortfall": SHORTFALL_ALLOWANCE, "devoted": DEVOTED_ALLOWANCE},
            "audience": list_accounts(audience, np.arange(own.start, own.stop)),
            "devoted": list_accounts(audience, select_pairs(audience, agent, devoted)),
        }

    return Finding(
        (
            Sign("shortfall", shortfall(interactions.astype(np.float64), squares, weeks=weeks), SHORTFALL),
            Sign("devoted", share(by_devoted, interactions, allowance=DEVOTED_ALLOWANCE), DEVOTED),
        ),
        describe,
    )


def shortfall(interactions: Float64Array, squares: Float64Array, *, weeks: float) -> Float64Array:
    """Return 1 - effective / usual number of accounts, damped for small numbers.

    `interactions` are an agent's interactions, `squares` the sum of each account's interactions squared.
    """
    effective = interactions**2 / np.maximum(squares, 1)
    weekly = interactions / weeks
    short = np.clip(1 - effective / np.maximum(weekly, 1) ** USUAL_POWER, 0, 1)
    return short * weekly / (weekly + SHORTFALL_ALLOWANCE)
