"""Known cast lookup: agents' casts that were reported or pulled from the hub.

A reporter could invent casts, so interactions with an unknown cast do not count. An interaction that is reported before
its cast is stored, and counts once a ranking knows the cast. The cast's age does not matter: people also react to casts
from before the interval.
"""

import numpy as np
from django.db.backends.utils import CursorWrapper

from leaderboard.facts.binary_copy import INT64, copy_columns, index_into
from leaderboard.facts.columns import Actions, Agents, BoolArray, Int32Array, Int64Array
from leaderboard.facts.grouping import CHUNK, count_distinct, find_positions

# Casts per lookup statement, which lists them all.
_CASTS_AT_ONCE = 50_000
# Spreads agents over all 64 bits: 2^64 divided by the golden ratio, as a signed integer.
_MIX = -7046029254386353131
# An index-only scan of the unique constraint for each cast.
_KNOWN = """
SELECT wanted.agent_id, wanted.cast_key
FROM unnest(%s::bigint[], %s::bigint[]) AS wanted (agent_id, cast_key)
CROSS JOIN LATERAL (
    SELECT FROM leaderboard_action WHERE cast_key = wanted.cast_key AND agent_id = wanted.agent_id LIMIT 1
) AS known
"""


def known_cast_mask(
    cursor: CursorWrapper, agent: Int32Array, cast: Int64Array, *, agents: Agents, actions: Actions
) -> BoolArray:
    """Mask the casts that are known as their agent's casts.

    `actions` are the interval's casts; the database is queried for other casts.
    """
    interval_keys, _ = count_distinct(_keys(actions.agent, actions.cast))
    is_known = np.empty(len(cast), np.bool_)
    for start in range(0, len(cast), CHUNK):
        chunk = slice(start, start + CHUNK)
        is_known[chunk] = find_positions(interval_keys, _keys(agent[chunk], cast[chunk])) >= 0
    missing = np.flatnonzero(~is_known).astype(np.int32)
    if len(missing):
        keys = _keys(agent[missing], cast[missing])
        _, unique_rows = np.unique(keys, return_index=True)
        is_known[missing] = (
            find_positions(_look_up(cursor, agent[missing[unique_rows]], cast[missing[unique_rows]], agents), keys) >= 0
        )
    return is_known


def _keys(agent: Int32Array, cast: Int64Array) -> Int64Array:
    """Return a number for each (agent, cast) pair: a cast may be reported for two agents."""
    keys: Int64Array = agent.astype(np.int64)
    keys *= _MIX
    keys ^= cast
    return keys


def _look_up(cursor: CursorWrapper, agent: Int32Array, cast: Int64Array, agents: Agents) -> Int64Array:
    """Return the sorted distinct keys for the known casts, whatever their age."""
    keys_found = [np.zeros(0, np.int64)]
    for start in range(0, len(cast), _CASTS_AT_ONCE):
        chunk = slice(start, start + _CASTS_AT_ONCE)
        lookup = (agents.ids[agent[chunk]].tolist(), cast[chunk].tolist())
        rows = copy_columns(cursor, _KNOWN, lookup, {"agent": index_into(agents.ids), "cast": INT64})
        keys_found.append(_keys(rows["agent"], rows["cast"]))
    return count_distinct(np.concatenate(keys_found))[0]
