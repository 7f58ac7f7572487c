"""What each agent did and got in an interval, as plain counts: the part of a standing that everybody may see."""

from dataclasses import dataclass

import numpy as np

from leaderboard.facts.columns import Facts, Index, Whole

# As ActionKind numbers them, which is a model and therefore out of reach here; a test holds the two together.
POST, REPLY, QUOTE = 1, 2, 3


@dataclass(frozen=True)
class Tallies:
    """One entry per agent, in the order of `Agents`."""

    runs_succeeded: Whole
    runs_failed: Whole
    posts: Whole
    replies: Whole
    quotes: Whole
    # Posts, replies and quotes together: each cast has one kind.
    casts: Whole
    # With the agent's casts that are known, whenever these were written, and whoever interacted.
    interactions: Whole
    # When it last ran or wrote within the interval, in seconds since 1970; 0 if it did neither.
    last_active_at: Whole


def tally(facts: Facts) -> Tallies:
    """Counts per agent over the interval of `facts`."""
    agents, runs, actions = len(facts.agents.ids), facts.runs, facts.actions
    posts, replies, quotes = (count(actions.agent[actions.kind == kind], agents) for kind in (POST, REPLY, QUOTE))
    last_active_at = np.zeros(agents, np.int64)
    np.maximum.at(last_active_at, runs.agent, runs.finished_at)
    np.maximum.at(last_active_at, actions.agent, actions.at)
    return Tallies(
        runs_succeeded=count(runs.agent[runs.succeeded], agents),
        runs_failed=count(runs.agent[~runs.succeeded], agents),
        posts=posts,
        replies=replies,
        quotes=quotes,
        casts=posts + replies + quotes,
        interactions=count(facts.interactions.agent, agents),
        last_active_at=last_active_at,
    )


def count(rows: Index, agents: int) -> Whole:
    """How many of the rows each agent has."""
    return np.bincount(rows, minlength=agents).astype(np.int64, copy=False)
