"""Loading an interval's facts from PostgreSQL into columns, as of one moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from leaderboard.facts.binary_copy import BOOL, FLOAT64, INT8, INT64, TIMESTAMP, copy_columns, index_into
from leaderboard.facts.columns import (
    Accounts,
    Actions,
    Agents,
    Int64Array,
    Interactions,
    IntervalFacts,
    Runs,
)
from leaderboard.facts.known_casts import known_cast_mask
from leaderboard.models import Interval
from leaderboard.models.facts import InteractionKind

# Accounts per lookup statement, which lists them all.
_ACCOUNTS_AT_ONCE = 50_000

_AGENTS = """
SELECT id, COALESCE(fid, 0), COALESCE(creator_fid, 0), COALESCE(partner_key_id, 0) FROM leaderboard_agent ORDER BY id
"""
# Each query uses its table's time index: its cost depends only on the interval's facts.
_RUNS = "SELECT agent_id, finished_at, succeeded FROM leaderboard_run WHERE finished_at >= %s AND finished_at < %s"
_ACTIONS = "SELECT agent_id, at, kind, cast_key FROM leaderboard_action WHERE at >= %s AND at < %s"
# A message that replies to a cast and quotes it is a reply, even if it was reported as both. Quotes are few, and a
# subquery here uses the unique constraint's index and is never turned into a join.
_INTERACTIONS = """
SELECT agent_id, actor_fid, cast_key, is_confirmed, at >= %s FROM leaderboard_interaction AS message
WHERE at >= %s AND at < %s AND (kind <> %s OR (
    SELECT true FROM leaderboard_interaction AS reply
    WHERE reply.cast_key = message.cast_key AND reply.actor_fid = message.actor_fid AND reply.kind = %s
        AND reply.message_key = message.message_key AND reply.agent_id = message.agent_id
    LIMIT 1
) IS NULL)
"""
# An account's newest score is the last entry in its index range.
_ACCOUNTS = """
SELECT wanted.fid, COALESCE(newest.score, 'NaN')
FROM unnest(%s::bigint[]) AS wanted (fid)
LEFT JOIN LATERAL (
    SELECT score FROM leaderboard_socialscore WHERE fid = wanted.fid AND at < %s ORDER BY at DESC LIMIT 1
) AS newest ON true
ORDER BY wanted.fid
"""


@contextmanager
def repeatable_read() -> Iterator[CursorWrapper]:
    """Open a read-only transaction that sees the database as of its first statement.

    It can't be nested in another transaction.
    """
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield cursor


def load_facts(cursor: CursorWrapper, *, computed_at: datetime, interval: Interval) -> IntervalFacts:
    """Load the facts for the interval that ends with the second `computed_at`.

    `cursor` comes from `repeatable_read`. Agents are read first, and include all agents that facts name. A fact counts
    by its second; the first second is the one after the interval's beginning.
    """
    second = computed_at.replace(microsecond=0)
    end = second + timedelta(seconds=1)
    bounds, judged_bounds = (end - interval.length, end), (end - interval.judged_length, end)
    agent_columns = _load_columns(cursor, _AGENTS, (), ids=INT64, fids=INT64, creator_fids=INT64, reporters=INT64)
    reporters = agent_columns.pop("reporters")
    agents = Agents(**agent_columns)
    agent = index_into(agents.ids)
    actions = Actions(**_load_columns(cursor, _ACTIONS, bounds, agent=agent, at=TIMESTAMP, kind=INT8, cast=INT64))
    interactions = _load_interactions(cursor, bounds[0], judged_bounds, agents, actions)
    return IntervalFacts(
        computed_at=int(second.timestamp()),
        seconds=int(interval.length.total_seconds()),
        agents=agents,
        runs=Runs(**_load_columns(cursor, _RUNS, bounds, agent=agent, finished_at=TIMESTAMP, succeeded=BOOL)),
        actions=actions,
        interactions=interactions,
        accounts=_load_accounts(cursor, _fids(agents, interactions), end),
        reporters=reporters,
    )


def _load_interactions(
    cursor: CursorWrapper, start: datetime, bounds: tuple[datetime, datetime], agents: Agents, actions: Actions
) -> Interactions:
    """Load interactions with known casts; a message that is reported as both reply and quote counts once.

    Interactions from `start` on are within the interval.
    """
    kinds = (InteractionKind.QUOTE.value, InteractionKind.REPLY.value)
    reported = _load_columns(
        cursor,
        _INTERACTIONS,
        (start, *bounds, *kinds),
        agent=index_into(agents.ids),
        actor=INT64,
        cast=INT64,
        is_confirmed=BOOL,
        is_current=BOOL,
    )
    is_known = known_cast_mask(cursor, reported["agent"], reported.pop("cast"), agents=agents, actions=actions)
    if not is_known.all():
        # One column at a time, so that only one is in memory twice.
        for name in reported:
            reported[name] = reported[name][is_known]
    return Interactions(**reported)


def _load_columns(cursor: CursorWrapper, query: str, parameters: tuple[Any, ...], **columns: Any) -> dict[str, Any]:
    return copy_columns(cursor, query, parameters, columns)


def _fids(agents: Agents, interactions: Interactions) -> Int64Array:
    """Return the distinct actor and creator FIDs, sorted."""
    # np.unique takes five times as long.
    fids = np.concatenate((interactions.actor, agents.creator_fids))
    fids.sort()
    is_new = fids > 0
    is_new[1:] &= fids[1:] != fids[:-1]
    return fids[is_new]


def _load_accounts(cursor: CursorWrapper, fids: Int64Array, end: datetime) -> Accounts:
    parts = [
        _load_columns(
            cursor,
            _ACCOUNTS,
            (fids[start : start + _ACCOUNTS_AT_ONCE].tolist(), end),
            fids=INT64,
            scores=FLOAT64,
        )
        for start in range(0, max(len(fids), 1), _ACCOUNTS_AT_ONCE)
    ]
    return Accounts(**{name: np.concatenate([columns[name] for columns in parts]) for name in parts[0]})
