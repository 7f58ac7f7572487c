"""Stored events of tokens by which fees were collected or paid, and the blocks of which a chain's events are stored."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import orjson

from config.postgresql.bulk_load import array_literal
from config.postgresql.replica import read_connection
from tokens.chains.evm.generations.event_decoding import EventKind
from tokens.chains.registry.chains import ChainInfo
from tokens.installation.installed_registry import registry
from tokens.models import ChainHead, Coverage, FollowedAccount

# Reason of an unknown fact: the blocks since the launch are not all read.
HISTORY_NOT_READ = "history_not_read"
# The newest events that are read of a token: a v4 pool collects its fees in nearly every swap.
EVENTS_READ = 2_000
_KINDS = (EventKind.FEES_COLLECTED, EventKind.FEES_CLAIMED, EventKind.REWARD_RECIPIENT_UPDATED)
# Without collections of nothing, which are frequent.
_READ = """
SELECT token_id, id, kind, (at AT TIME ZONE 'UTC')::date, arguments
FROM unnest(%(ids)s::bigint[]) AS wanted CROSS JOIN LATERAL (
    SELECT * FROM tokens_tokenevent WHERE token_id = wanted ORDER BY block_number DESC, log_index DESC LIMIT %(limit)s
) AS newest
WHERE kind = ANY(%(kinds)s::text[])
    AND NOT coalesce(arguments ->> 'amount0' = '0' AND arguments ->> 'amount1' = '0', false)
ORDER BY token_id, block_number DESC, log_index DESC
"""
_HAS_MORE = """
SELECT wanted FROM unnest(%(ids)s::bigint[]) AS wanted WHERE EXISTS (
    SELECT FROM tokens_tokenevent WHERE token_id = wanted
    ORDER BY block_number DESC, log_index DESC OFFSET %(limit)s
)
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class FeeEvent:
    """An event of `_KINDS`, with its arguments as stored."""

    event_id: int
    kind: str
    # UTC.
    day: date
    arguments: dict[str, Any]


@dataclass(slots=True)
class FeeHistory:
    """Events of a token, newest first. `is_cut`: there are older ones, which were not read."""

    events: list[FeeEvent] = field(default_factory=list)
    is_cut: bool = False


def read_fee_histories(token_ids: Collection[int]) -> dict[int, FeeHistory]:
    """Return token id -> the events of fees among its newest EVENTS_READ events, in two queries."""
    found = {token_id: FeeHistory() for token_id in token_ids}
    parameters = {"ids": array_literal(token_ids), "limit": EVENTS_READ, "kinds": array_literal(_KINDS)}
    with read_connection().cursor() as cursor:
        cursor.execute(_READ, parameters)
        for token_id, event_id, kind, day, arguments in cursor.fetchall():
            event = FeeEvent(event_id=event_id, kind=kind, day=day, arguments=orjson.loads(arguments))
            found[token_id].events.append(event)
        cursor.execute(_HAS_MORE, parameters)
        for (token_id,) in cursor.fetchall():
            found[token_id].is_cut = True
    return found


def first_blocks(chain_ids: Collection[int], covers: Callable[[Coverage, ChainInfo], bool]) -> dict[int, int]:
    """Return chain id -> the block since which all that `covers` selects is stored; three queries.

    Chains that are not followed, or of which older blocks are still read, are absent. On Solana it is the slot since
    which all transactions of the registry's accounts are read.
    """
    chains = registry().chains
    newest = dict(ChainHead.objects.filter(pk__in=chain_ids).values_list("chain_id", "followed"))
    rows: dict[int, list[Coverage]] = {}
    for row in Coverage.objects.filter(chain_id__in=chain_ids):
        if row.chain_id in chains and covers(row, chains[row.chain_id]):
            rows.setdefault(row.chain_id, []).append(row)
    found = {}
    for chain_id, of_chain in rows.items():
        first = _first_block(of_chain, newest=newest.get(chain_id))
        if first is not None:
            found[chain_id] = first
    for account in FollowedAccount.objects.filter(chain_id__in=chain_ids, complete_to__isnull=False):
        found[account.chain_id] = max(found.get(account.chain_id, 0), account.first_slot)
    return found


def _first_block(rows: Collection[Coverage], *, newest: int | None) -> int | None:
    """Return the first block of the gapless range up to the newest one that the head has written; None without one."""
    live = [row for row in rows if row.last_block is None]
    end = max((row.followed_to for row in live), default=0)
    # A row that is behind may find tokens that the blocks above are about.
    if not live or min(row.followed_to for row in live) < max(end, newest or 0):
        return None
    first = end + 1
    for row in sorted(rows, key=lambda row: row.followed_to, reverse=True):
        if row.followed_to >= first - 1:
            first = min(first, row.first_block)
    return first
