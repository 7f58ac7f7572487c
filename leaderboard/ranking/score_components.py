"""The parts of a score, each from 0 to 1. docs/leaderboard.md says why each is made as it is."""

from dataclasses import dataclass

import numpy as np

from leaderboard.facts.audiences import UNKNOWN_SCORE, Audience, known_of
from leaderboard.facts.columns import Facts, Real, Whole
from leaderboard.facts.grouping import distinct
from leaderboard.ranking.tallies import Tallies
from leaderboard.ranking.unknown_accounts import bounded

DAY = 86_400
# Of the normal distribution: the lower end of a two-sided interval of 95 %.
_Z = 1.96
# An answer or a quote takes a counterpart, and counts half again as much as a post.
_ANSWER = 1.5
# What a component is 1 at, or beyond.
FULL_ACTIVITY_A_DAY = 30.0
FULL_REACH = 5_000.0
FULL_ENGAGEMENT = 25.0
# Casts that are added to an agent's, so that one lucky cast makes no engagement.
_FEW_CASTS = 3.0
# Slots of an interval, and the share of them, the newest counting most, that makes a consistent agent.
SLOTS = 28
_FULL_PRESENCE = 0.7


@dataclass(frozen=True)
class Weighted:
    """A component and its share of the score."""

    name: str
    weight: float


RELIABILITY = Weighted("reliability", 0.20)
ACTIVITY = Weighted("activity", 0.10)
REACH = Weighted("reach", 0.25)
ENGAGEMENT = Weighted("engagement", 0.20)
CREATOR = Weighted("creator", 0.10)
CONSISTENCY = Weighted("consistency", 0.15)
COMPONENTS = (RELIABILITY, ACTIVITY, REACH, ENGAGEMENT, CREATOR, CONSISTENCY)


def measure(facts: Facts, tallies: Tallies, audience: Audience) -> dict[str, Real]:
    """Each component of each agent, by name."""
    heard = np.sqrt(audience.pair_count)
    return {
        RELIABILITY.name: reliability(tallies.runs_succeeded, tallies.runs_failed),
        ACTIVITY.name: activity(tallies, days=facts.seconds / DAY),
        REACH.name: _log_share(worth(audience, np.ones_like(heard)), FULL_REACH),
        ENGAGEMENT.name: engagement(worth(audience, heard), tallies.casts),
        CREATOR.name: creator(creator_scores(facts)),
        CONSISTENCY.name: consistency(facts),
    }


def reliability(succeeded: Whole, failed: Whole) -> Real:
    """The lower end of Wilson's interval for the share of runs that succeed: few runs prove little."""
    runs = np.maximum(succeeded + failed, 1).astype(np.float64)
    share = succeeded / runs
    spread = _Z * np.sqrt(share * (1 - share) / runs + _Z**2 / (4 * runs**2))
    lower: Real = np.clip((share + _Z**2 / (2 * runs) - spread) / (1 + _Z**2 / runs), 0, 1)
    return lower


def activity(tallies: Tallies, *, days: float) -> Real:
    """What it wrote, by the logarithm, up to FULL_ACTIVITY_A_DAY: more than that is no merit."""
    written = tallies.posts + _ANSWER * (tallies.replies + tallies.quotes)
    return _log_share(written, FULL_ACTIVITY_A_DAY * max(days, 1))


def worth(audience: Audience, heard: Real) -> Real:
    """What each agent's accounts count for: `heard` of each pair, times the account's score; unknown ones bounded."""
    known = np.nan_to_num(audience.scores)[audience.pair_actor]
    return bounded(audience.per_agent(known * heard), UNKNOWN_SCORE * audience.per_agent(audience.is_unknown * heard))


def engagement(weighted: Real, casts: Whole) -> Real:
    """What a cast gets: each account's interactions by their root and its social score, over the casts."""
    return _log_share(weighted / (casts + _FEW_CASTS), FULL_ENGAGEMENT)


def creator_scores(facts: Facts) -> Real:
    """The social score of each agent's creator; NaN where it or its creator is unknown."""
    return known_of(facts.accounts, facts.agents.creator_fids)[0]


def creator(scores: Real) -> Real:
    """The creator's social score, UNKNOWN_SCORE where it is unknown."""
    return np.clip(np.where(np.isnan(scores), UNKNOWN_SCORE, scores), 0, 1)


def consistency(facts: Facts) -> Real:
    """The share of the interval's slots in which it wrote or ran well, the newest counting twice the oldest."""
    agents, runs, actions = len(facts.agents.ids), facts.runs, facts.actions
    agent = np.concatenate([runs.agent[runs.succeeded], actions.agent]).astype(np.int64)
    at = np.concatenate([runs.finished_at[runs.succeeded], actions.at])
    age = np.clip((facts.computed_at - at) * SLOTS // max(facts.seconds, 1), 0, SLOTS - 1)
    present, _ = distinct(agent * SLOTS + age)
    weights = np.linspace(2, 1, SLOTS)
    presence = np.bincount(present // SLOTS, weights[present % SLOTS], agents) / weights.sum()
    share: Real = np.minimum(presence / _FULL_PRESENCE, 1)
    return share


def _log_share(amount: Real, full: float) -> Real:
    share: Real = np.minimum(np.log1p(amount) / np.log1p(full), 1)
    return share
