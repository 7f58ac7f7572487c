"""Score components, each from 0 to 1. docs/leaderboard.md explains each formula."""

import numpy as np

from leaderboard.facts.audiences import look_up_scores
from leaderboard.facts.columns import Float64Array, Int64Array, IntervalFacts
from leaderboard.facts.grouping import count_distinct
from leaderboard.ranking.tallies import Tallies

DAY = 86_400
# Normal distribution quantile for a two-sided 95 % interval.
_Z = 1.96
# Weight for a reply or quote, relative to a post: it needs a counterpart.
_REPLY_WEIGHT = 1.5
# Values from which a component is 1.
FULL_ACTIVITY_A_DAY = 30.0
# Audience weight from which its component is 1.
FULL_AUDIENCE = 5_000.0
# Assumed for a creator without a known social score.
UNKNOWN_CREATOR_SCORE = 0.3
# Slots per interval, and the weighted share of active slots from which consistency is 1.
SLOTS = 28
_FULL_PRESENCE = 0.7


AUDIENCE = "audience"
# The agent's own word: components from its own side's actions and reports. Each has the same weight.
OWN_WORD = ("reliability", "activity", "consistency", "creator")


def measure_components(facts: IntervalFacts, tallies: Tallies, weight: Float64Array) -> dict[str, Float64Array]:
    """Return name -> component per agent; `weight` is the counted weight per audience."""
    return {
        AUDIENCE: audience(weight),
        "reliability": reliability(tallies.runs_succeeded, tallies.runs_failed),
        "activity": activity(tallies, days=facts.seconds / DAY),
        "consistency": consistency(facts),
        "creator": creator(creator_scores(facts)),
    }


def audience(weight: Float64Array) -> Float64Array:
    """Return the cube root of the weight's share of FULL_AUDIENCE: eight times the audience is twice the component."""
    share: Float64Array = np.cbrt(np.minimum(weight / FULL_AUDIENCE, 1))
    return share


def reliability(succeeded: Int64Array, failed: Int64Array) -> Float64Array:
    """Return the lower Wilson interval bound for the successful run share: few runs prove little."""
    runs = np.maximum(succeeded + failed, 1).astype(np.float64)
    share = succeeded / runs
    spread = _Z * np.sqrt(share * (1 - share) / runs + _Z**2 / (4 * runs**2))
    lower: Float64Array = np.clip((share + _Z**2 / (2 * runs) - spread) / (1 + _Z**2 / runs), 0, 1)
    return lower


def activity(tallies: Tallies, *, days: float) -> Float64Array:
    """Return the logarithmic share of FULL_ACTIVITY_A_DAY casts a day; further casts add nothing."""
    written = tallies.posts + _REPLY_WEIGHT * (tallies.replies + tallies.quotes)
    return _log_share(written, FULL_ACTIVITY_A_DAY * max(days, 1))


def creator_scores(facts: IntervalFacts) -> Float64Array:
    """Return the creator's social score for each agent; NaN if it or the creator is unknown."""
    return look_up_scores(facts.accounts, facts.agents.creator_fids)


def creator(scores: Float64Array) -> Float64Array:
    """Return the creator's social score, UNKNOWN_CREATOR_SCORE if it is unknown."""
    return np.clip(np.where(np.isnan(scores), UNKNOWN_CREATOR_SCORE, scores), 0, 1)


def consistency(facts: IntervalFacts) -> Float64Array:
    """Return the share of slots with a cast or a successful run; the newest slot weighs twice as much as the oldest."""
    agents, runs, actions = len(facts.agents.ids), facts.runs, facts.actions
    agent = np.concatenate([runs.agent[runs.succeeded], actions.agent]).astype(np.int64)
    times = np.concatenate([runs.finished_at[runs.succeeded], actions.at])
    age = np.clip((facts.computed_at - times) * SLOTS // max(facts.seconds, 1), 0, SLOTS - 1)
    present, _ = count_distinct(agent * SLOTS + age)
    weights = np.linspace(2, 1, SLOTS)
    presence = np.bincount(present // SLOTS, weights[present % SLOTS], agents) / weights.sum()
    share: Float64Array = np.minimum(presence / _FULL_PRESENCE, 1)
    return share


def _log_share(amount: Float64Array, full: float) -> Float64Array:
    share: Float64Array = np.minimum(np.log1p(amount) / np.log1p(full), 1)
    return share
