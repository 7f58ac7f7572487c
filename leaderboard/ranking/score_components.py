"""Score components, each from 0 to 1. docs/leaderboard.md explains each formula."""

from dataclasses import dataclass

import numpy as np

from leaderboard.facts.audiences import UNKNOWN_SCORE, Audience, look_up_accounts
from leaderboard.facts.columns import Float64Array, Int64Array, IntervalFacts
from leaderboard.facts.grouping import count_distinct
from leaderboard.ranking.tallies import Tallies
from leaderboard.ranking.unknown_accounts import bounded_sum

DAY = 86_400
# Quantile of the normal distribution for a two-sided 95 % interval.
_Z = 1.96
# Weight of a reply or quote, relative to a post: it needs a counterpart.
_REPLY_WEIGHT = 1.5
# Values from which a component is 1.
FULL_ACTIVITY_A_DAY = 30.0
FULL_REACH = 5_000.0
FULL_ENGAGEMENT = 25.0
# Added to an agent's casts, so that one lucky cast is not enough.
_EXTRA_CASTS = 3.0
# Slots per interval, and the weighted share of active slots from which consistency is 1.
SLOTS = 28
_FULL_PRESENCE = 0.7


@dataclass(frozen=True)
class Component:
    """Score component and its weight in the composite."""

    name: str
    weight: float


RELIABILITY = Component("reliability", 0.20)
ACTIVITY = Component("activity", 0.10)
REACH = Component("reach", 0.25)
ENGAGEMENT = Component("engagement", 0.20)
CREATOR = Component("creator", 0.10)
CONSISTENCY = Component("consistency", 0.15)
COMPONENTS = (RELIABILITY, ACTIVITY, REACH, ENGAGEMENT, CREATOR, CONSISTENCY)


def measure_components(facts: IntervalFacts, tallies: Tallies, audience: Audience) -> dict[str, Float64Array]:
    """Return each component of each agent, by name."""
    weights = np.sqrt(audience.pair_count)
    return {
        RELIABILITY.name: reliability(tallies.runs_succeeded, tallies.runs_failed),
        ACTIVITY.name: activity(tallies, days=facts.seconds / DAY),
        REACH.name: _log_share(audience_worth(audience, np.ones_like(weights)), FULL_REACH),
        ENGAGEMENT.name: engagement(audience_worth(audience, weights), tallies.casts),
        CREATOR.name: creator(creator_scores(facts)),
        CONSISTENCY.name: consistency(facts),
    }


def reliability(succeeded: Int64Array, failed: Int64Array) -> Float64Array:
    """Return the lower bound of Wilson's interval for the share of successful runs: few runs prove little."""
    runs = np.maximum(succeeded + failed, 1).astype(np.float64)
    share = succeeded / runs
    spread = _Z * np.sqrt(share * (1 - share) / runs + _Z**2 / (4 * runs**2))
    lower: Float64Array = np.clip((share + _Z**2 / (2 * runs) - spread) / (1 + _Z**2 / runs), 0, 1)
    return lower


def activity(tallies: Tallies, *, days: float) -> Float64Array:
    """Return the logarithmic share of FULL_ACTIVITY_A_DAY casts a day; more than that adds nothing."""
    written = tallies.posts + _REPLY_WEIGHT * (tallies.replies + tallies.quotes)
    return _log_share(written, FULL_ACTIVITY_A_DAY * max(days, 1))


def audience_worth(audience: Audience, weights: Float64Array) -> Float64Array:
    """Sum the weight of each pair times its account's score over an agent's pairs; unknown scores are bounded."""
    known = np.nan_to_num(audience.scores)[audience.pair_actor]
    return bounded_sum(
        audience.per_agent(known * weights), UNKNOWN_SCORE * audience.per_agent(audience.is_unknown * weights)
    )


def engagement(weighted: Float64Array, casts: Int64Array) -> Float64Array:
    """Return the response per cast: the root of each account's interactions, weighted by its social score."""
    return _log_share(weighted / (casts + _EXTRA_CASTS), FULL_ENGAGEMENT)


def creator_scores(facts: IntervalFacts) -> Float64Array:
    """Return the social score of each agent's creator; NaN if it or the creator is unknown."""
    return look_up_accounts(facts.accounts, facts.agents.creator_fids)[0]


def creator(scores: Float64Array) -> Float64Array:
    """Return the creator's social score, UNKNOWN_SCORE where it is unknown."""
    return np.clip(np.where(np.isnan(scores), UNKNOWN_SCORE, scores), 0, 1)


def consistency(facts: IntervalFacts) -> Float64Array:
    """Return the share of slots with a cast or a successful run; the newest slot has twice the oldest's weight."""
    agents, runs, actions = len(facts.agents.ids), facts.runs, facts.actions
    agent = np.concatenate([runs.agent[runs.succeeded], actions.agent]).astype(np.int64)
    at = np.concatenate([runs.finished_at[runs.succeeded], actions.at])
    age = np.clip((facts.computed_at - at) * SLOTS // max(facts.seconds, 1), 0, SLOTS - 1)
    present, _ = count_distinct(agent * SLOTS + age)
    weights = np.linspace(2, 1, SLOTS)
    presence = np.bincount(present // SLOTS, weights[present % SLOTS], agents) / weights.sum()
    share: Float64Array = np.minimum(presence / _FULL_PRESENCE, 1)
    return share


def _log_share(amount: Float64Array, full: float) -> Float64Array:
    share: Float64Array = np.minimum(np.log1p(amount) / np.log1p(full), 1)
    return share
