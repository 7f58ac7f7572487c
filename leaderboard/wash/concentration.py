"""CONCENTRATED: few accounts make most of an agent's interactions, or accounts that know nobody else do.

The effective number of accounts is 1 / HHI, where HHI is the sum of the squared shares of the accounts.
"""

import numpy as np

from leaderboard.facts.audiences import Audience
from leaderboard.facts.columns import Facts, Real
from leaderboard.wash.evidence_accounts import listed, pairs_of, share, totals
from leaderboard.wash.findings import Evidence, Finding, Ramp, Sign

FLAG = "CONCENTRATED"
WEIGHT = 0.6
SHORTFALL = Ramp(0.58, 0.74)
# Honest agents of a narrow subject have fans who follow nobody else, too.
DEVOTED = Ramp(0.1, 0.4, top=0.75)
# An audience is expected to have as many effective accounts as its interactions to this power.
USUAL_POWER = 0.8
# In more than a week the same people come back, so that it is the interactions of a week that this goes by.
USUAL_SECONDS = 7 * 86_400
# Added to the interactions that a shortfall, or the devoted, are held against: a small circle of friends is like that.
DOUBT = 80
DOUBT_OF_DEVOTED = 25
# An account is devoted if it interacts as often as this, and for that share with this one agent.
_MIN_DEVOTED = 4
_DEVOTED_SHARE = 0.8


def find(facts: Facts, audience: Audience) -> Finding:
    """By how much the effective accounts fall short of what is usual, and the share of devoted accounts."""
    interactions, weeks = audience.interactions, max(facts.seconds / USUAL_SECONDS, 1.0)
    squares = audience.per_agent(audience.pair_count.astype(np.float64) ** 2)
    total = totals(audience)[audience.pair_actor]
    devoted = (audience.pair_count >= _MIN_DEVOTED) & (audience.pair_count >= _DEVOTED_SHARE * total)
    by_devoted = audience.per_agent(devoted * audience.pair_count)

    def describe(agent: int) -> Evidence:
        own = audience.pairs_of(agent)
        return {
            "interactions": int(interactions[agent]),
            "usualPower": USUAL_POWER,
            "weeks": weeks,
            "doubt": {"shortfall": DOUBT, "devoted": DOUBT_OF_DEVOTED},
            "audience": listed(audience, np.arange(own.start, own.stop)),
            "devoted": listed(audience, pairs_of(audience, agent, devoted)),
        }

    return Finding(
        (
            Sign("shortfall", shortfall(interactions.astype(np.float64), squares, weeks=weeks), SHORTFALL),
            Sign("devoted", share(by_devoted, interactions, doubt=DOUBT_OF_DEVOTED), DEVOTED),
        ),
        describe,
    )


def shortfall(interactions: Real, squares: Real, *, weeks: float) -> Real:
    """1 - effective / usual number of accounts, of all interactions and the squares of each account's, with doubt."""
    effective = interactions**2 / np.maximum(squares, 1)
    weekly = interactions / weeks
    short = np.clip(1 - effective / np.maximum(weekly, 1) ** USUAL_POWER, 0, 1)
    return short * weekly / (weekly + DOUBT)
