"""Activity tallies per agent in an interval: a standing's public figures."""

from dataclasses import dataclass

import numpy as np

from leaderboard.facts.columns import Int32Array, Int64Array, IntervalFacts

# ActionKind's values; importing it would pull in Django. A test checks that they agree.
POST, REPLY, QUOTE = 1, 2, 3


@dataclass(frozen=True)
class Tallies:
    """Counts with one entry per agent, sorted as `Agents`."""

    runs_succeeded: Int64Array
    runs_failed: Int64Array
    posts: Int64Array
    replies: Int64Array
    quotes: Int64Array
    # Posts, replies and quotes together: each cast has one kind.
    casts: Int64Array
    # Interactions with the agent's known casts, whatever their age, by any account.
    interactions: Int64Array
    # Time of the last run or cast within the interval, in seconds since 1970; 0 without any.
    last_active_at: Int64Array


def tally_facts(facts: IntervalFacts) -> Tallies:
    """Count each agent's facts in the interval."""
    agents, runs, actions = len(facts.agents.ids), facts.runs, facts.actions
    posts, replies, quotes = (
        count_per_agent(actions.agent[actions.kind == kind], agents) for kind in (POST, REPLY, QUOTE)
    )
    last_active_at = np.zeros(agents, np.int64)
    np.maximum.at(last_active_at, runs.agent, runs.finished_at)
    np.maximum.at(last_active_at, actions.agent, actions.at)
    return Tallies(
        runs_succeeded=count_per_agent(runs.agent[runs.succeeded], agents),
        runs_failed=count_per_agent(runs.agent[~runs.succeeded], agents),
        posts=posts,
        replies=replies,
        quotes=quotes,
        casts=posts + replies + quotes,
        interactions=count_per_agent(facts.interactions.agent[facts.interactions.is_current], agents),
        last_active_at=last_active_at,
    )


def count_per_agent(rows: Int32Array, agents: int) -> Int64Array:
    """Return the number of rows per agent."""
    return np.bincount(rows, minlength=agents).astype(np.int64, copy=False)
