"""The facts of an interval, out of PostgreSQL into columns, as they were at one moment."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from leaderboard.facts.binary_copy import MOMENT, REAL, SMALL, TRUTH, WHOLE, copy_columns, indexed_in
from leaderboard.facts.columns import Accounts, Actions, Agents, Doubt, Facts, Interactions, Runs, Trades, Whole
from leaderboard.facts.known_casts import are_known
from leaderboard.models import Interval
from leaderboard.models.facts import InteractionKind

# How many accounts are looked up by one statement, which names them all.
_ACCOUNTS_AT_ONCE = 50_000

_AGENTS = """
SELECT id, COALESCE(fid, 0), COALESCE(creator_fid, 0), COALESCE(partner_key_id, 0) FROM leaderboard_agent ORDER BY id
"""
# Each by the index of its table by time: a window costs what it holds.
_RUNS = "SELECT agent_id, finished_at, succeeded FROM leaderboard_run WHERE finished_at >= %s AND finished_at < %s"
_ACTIONS = "SELECT agent_id, at, kind, cast_key, text_key FROM leaderboard_action WHERE at >= %s AND at < %s"
# A message that answers and quotes one cast is a reply, also where it was told as both. Quotes are few, and a subquery
# in this place is looked up by the index of what makes one fact, never joined.
_INTERACTIONS = """
SELECT agent_id, at, kind, actor_fid, cast_key, text_key FROM leaderboard_interaction AS told
WHERE at >= %s AND at < %s AND (kind <> %s OR (
    SELECT true FROM leaderboard_interaction AS reply
    WHERE reply.cast_key = told.cast_key AND reply.actor_fid = told.actor_fid AND reply.kind = %s
        AND reply.message_key = told.message_key AND reply.agent_id = told.agent_id
    LIMIT 1
) IS NULL)
"""
# A wallet's key is `leaderboard.facts.short_keys.wallet_key` of its address.
_TRADES = """
SELECT trade.agent_id, trade.at, substring(sha256(convert_to(trade.wallet, 'UTF8')) FOR 8), own.id IS NOT NULL,
    trade.is_buy, trade.amount::double precision
FROM leaderboard_trade AS trade
LEFT JOIN leaderboard_agentwallet AS own ON own.agent_id = trade.agent_id AND own.address = trade.wallet
WHERE trade.at >= %s AND trade.at < %s
"""
# The newest score of each is the last one in its part of an index.
_ACCOUNTS = """
SELECT wanted.fid, COALESCE(newest.score, 'NaN'), COALESCE(account.registered_at, 'epoch')
FROM unnest(%s::bigint[]) AS wanted (fid)
LEFT JOIN LATERAL (
    SELECT score FROM leaderboard_socialscore WHERE fid = wanted.fid AND at < %s ORDER BY at DESC LIMIT 1
) AS newest ON true
LEFT JOIN leaderboard_socialaccount AS account ON account.fid = wanted.fid
ORDER BY wanted.fid
"""
# Of the current ranking, unless it is of a later time, or of so long ago that nobody makes them any more.
_DOUBTS = """
SELECT standing.agent_id, standing.wash_confidence, standing.wash_flags, snapshot.computed_at
FROM leaderboard_snapshot AS snapshot
JOIN leaderboard_standing AS standing ON standing.snapshot_id = snapshot.id AND standing.wash_confidence > 0
WHERE snapshot.interval = %s AND snapshot.is_current AND snapshot.computed_at BETWEEN %s AND %s
"""
# A day tells little of who washes: its ranking heeds what the week's found.
_HEEDED = {Interval.DAY: Interval.WEEK}


@contextmanager
def at_one_moment() -> Iterator[CursorWrapper]:
    """A database transaction that sees everything as it was at its first statement, and writes nothing.

    It can't be within another one.
    """
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield cursor


def read_facts(cursor: CursorWrapper, *, computed_at: datetime, interval: Interval) -> Facts:
    """What happened in the interval that ends with the second of `computed_at`.

    The cursor is that of `at_one_moment`, so that each fact's agent is among those that are read before it. A fact
    counts by the second in which it happened: the interval's first is the one after its beginning.
    """
    second = computed_at.replace(microsecond=0)
    end = second + timedelta(seconds=1)
    window = (end - interval.length, end)
    described = _copied(cursor, _AGENTS, (), ids=WHOLE, fids=WHOLE, creator_fids=WHOLE, reporters=WHOLE)
    reporters = described.pop("reporters")
    agents = Agents(**described)
    agent = indexed_in(agents.ids)
    actions = Actions(**_copied(cursor, _ACTIONS, window, agent=agent, at=MOMENT, kind=SMALL, cast=WHOLE, text=WHOLE))
    interactions = _read_interactions(cursor, window, agents, actions)
    return Facts(
        computed_at=int(second.timestamp()),
        seconds=int(interval.length.total_seconds()),
        agents=agents,
        runs=Runs(**_copied(cursor, _RUNS, window, agent=agent, finished_at=MOMENT, succeeded=TRUTH)),
        actions=actions,
        interactions=interactions,
        trades=Trades(
            **_copied(
                cursor, _TRADES, window, agent=agent, at=MOMENT, wallet=WHOLE, is_own=TRUTH, is_buy=TRUTH, amount=REAL
            )
        ),
        accounts=_read_accounts(cursor, _fids(agents, interactions), end),
        earlier=_read_doubts(cursor, agents, _HEEDED.get(interval), second),
        reporters=reporters,
    )


def _read_interactions(
    cursor: CursorWrapper, window: tuple[datetime, datetime], agents: Agents, actions: Actions
) -> Interactions:
    """Those with casts that are known; a message that was told as a reply and as a quote of one cast comes once."""
    kinds = (InteractionKind.QUOTE.value, InteractionKind.REPLY.value)
    told = _copied(
        cursor,
        _INTERACTIONS,
        (*window, *kinds),
        agent=indexed_in(agents.ids),
        at=MOMENT,
        kind=SMALL,
        actor=WHOLE,
        cast=WHOLE,
        text=WHOLE,
    )
    is_known = are_known(cursor, told["agent"], told["cast"], agents=agents, actions=actions)
    if not is_known.all():
        # A column at a time, so that no two are there twice.
        for name in told:
            told[name] = told[name][is_known]
    return Interactions(**told)


def _read_doubts(
    cursor: CursorWrapper, agents: Agents, heeded: Interval | None, computed_at: datetime
) -> dict[int, Doubt]:
    if heeded is None:
        return {}
    cursor.execute(_DOUBTS, [heeded.value, computed_at - timedelta(days=1), computed_at])
    return {
        int(np.searchsorted(agents.ids, agent)): Doubt(confidence, tuple(flags), int(at.timestamp()))
        for agent, confidence, flags, at in cursor.fetchall()
    }


def _copied(cursor: CursorWrapper, query: str, parameters: tuple[Any, ...], **columns: Any) -> dict[str, Any]:
    return copy_columns(cursor, query, parameters, columns)


def _fids(agents: Agents, interactions: Interactions) -> Whole:
    """Those who interacted and the creators, each once, in order."""
    # np.unique takes five times as long.
    fids = np.concatenate((interactions.actor, agents.creator_fids))
    fids.sort()
    is_new = fids > 0
    is_new[1:] &= fids[1:] != fids[:-1]
    return fids[is_new]


def _read_accounts(cursor: CursorWrapper, fids: Whole, end: datetime) -> Accounts:
    parts = [
        _copied(
            cursor,
            _ACCOUNTS,
            (fids[first : first + _ACCOUNTS_AT_ONCE].tolist(), end),
            fids=WHOLE,
            scores=REAL,
            registered_at=MOMENT,
        )
        for first in range(0, max(len(fids), 1), _ACCOUNTS_AT_ONCE)
    ]
    return Accounts(**{name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
