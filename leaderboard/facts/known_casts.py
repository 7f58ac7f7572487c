"""Which casts are known: those of the agent that somebody has told us of, or that were pulled.

Whoever tells of interactions could make casts up, so that those with a cast that nobody knows don't count. One that
comes before its cast is kept as a fact, and counts from the first ranking on that knows the cast. It does not matter
when the cast was written: people take up what is older than the interval, too.
"""

import numpy as np
from django.db.backends.utils import CursorWrapper

from leaderboard.facts.binary_copy import WHOLE, copy_columns, indexed_in
from leaderboard.facts.columns import Actions, Agents, Index, Truth, Whole
from leaderboard.facts.grouping import CHUNK, distinct, positions

# How many casts are looked up by one statement, which names them all.
_CASTS_AT_ONCE = 50_000
# Spreads agents over all bits of a number: 2^64 by the golden ratio, as a signed integer.
_MIX = -7046029254386353131
# Each by the index of what makes a cast one fact, whose columns are all that is read.
_KNOWN = """
SELECT wanted.agent_id, wanted.cast_key
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (agent_id, cast_key)
CROSS JOIN LATERAL (
    SELECT FROM leaderboard_action WHERE cast_key = wanted.cast_key AND agent_id = wanted.agent_id LIMIT 1
) AS known
"""


def are_known(cursor: CursorWrapper, agent: Index, cast: Whole, *, agents: Agents, actions: Actions) -> Truth:
    """Whether each cast is known to be of its agent; `actions` are those of the interval, others are looked up."""
    known, _ = distinct(_keys(actions.agent, actions.cast))
    is_known = np.empty(len(cast), np.bool_)
    for start in range(0, len(cast), CHUNK):
        part = slice(start, start + CHUNK)
        is_known[part] = positions(known, _keys(agent[part], cast[part])) >= 0
    missing = np.flatnonzero(~is_known).astype(np.int32)
    if len(missing):
        keys = _keys(agent[missing], cast[missing])
        _, first = np.unique(keys, return_index=True)
        is_known[missing] = positions(_look_up(cursor, agent[missing[first]], cast[missing[first]], agents), keys) >= 0
    return is_known


def _keys(agent: Index, cast: Whole) -> Whole:
    """A number for each agent and cast: two agents may both be said to have written one cast."""
    keys: Whole = agent.astype(np.int64)
    keys *= _MIX
    keys ^= cast
    return keys


def _look_up(cursor: CursorWrapper, agent: Index, cast: Whole, agents: Agents) -> Whole:
    """The sorted keys of those casts, each once, that are known at any time."""
    found = [np.zeros(0, np.int64)]
    for start in range(0, len(cast), _CASTS_AT_ONCE):
        part = slice(start, start + _CASTS_AT_ONCE)
        wanted = (agents.ids[agent[part]].tolist(), cast[part].tolist())
        rows = copy_columns(cursor, _KNOWN, wanted, {"agent": indexed_in(agents.ids), "cast": WHOLE})
        found.append(_keys(rows["agent"], rows["cast"]))
    return distinct(np.concatenate(found))[0]
