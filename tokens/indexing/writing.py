"""Row writing for mined transactions: one code path for a single transaction and for thousands.

Statements on tokens fire the triggers of `search_and_market_rows.sql` and `token_events.sql`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from django.conf import settings
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from accounts.models import SocialProfile
from config.events.outbox import leave_out_events
from config.postgresql.bulk_load import (
    CopyText,
    column_types,
    copy_into,
    reserve_ids,
    staging_table,
    upsert_assignments,
)
from tokens.chains.pool_types import UndecodableLog
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import Launch, TransactionFacts
from tokens.indexing import event_rows, state_rows
from tokens.indexing.backlogs.known_decimals import complete_from_rows
from tokens.indexing.backlogs.pool_backlogs import open_undecoded
from tokens.indexing.current_state import CURRENT_COLUMNS
from tokens.indexing.documents.document_rows import request_documents
from tokens.indexing.launch_rows import LaunchKey, LaunchLine, launch_key, make_launch_line
from tokens.indexing.relaunches import (
    StoredLaunch,
    clear_displaced,
    first_launches,
    insert_next_pools,
    read_launch_pools,
    reset_relaunched_markets,
    without_later,
)
from tokens.models import LaunchFacts, Token
from tokens.models.expressions import equals_any

_IDENTITY = ("chain_id", "contract_address")
# A stored token's launch.
_PLACE = ("contract_address", "factory_address", "unindexed", *StoredLaunch._fields)
# Columns that an inserted token has beside its COPY line. Operators set the tags; nothing on the chain changes them.
_TAGS = ("champagne", "verified", "blocked")
_TIMES = ("created_at", "last_indexed")

_UPDATE = """
WITH written AS (
    UPDATE tokens_token AS token SET {updates}, last_indexed = %(now)s,
        confirmed = %(final)s OR (token.confirmed AND token.block_hash = excluded.block_hash)
    FROM staged_launch AS excluded
    WHERE token.chain_id = excluded.chain_id AND token.contract_address = excluded.contract_address
    RETURNING token.id, excluded.facts
)
INSERT INTO tokens_launchfacts (token_id, facts) SELECT id, facts FROM written
ON CONFLICT (token_id) DO UPDATE SET facts = EXCLUDED.facts
"""
# Later changes are folded into these columns. The same block does not reset them: that would store an event without a
# change. If the block has another time, it was read wrong once, and lockups begin at that time.
_KEPT = (
    '"{0}" = CASE WHEN (token.block_hash, token.deployed_at) = (excluded.block_hash, excluded.deployed_at)'
    ' THEN token."{0}" ELSE excluded."{0}" END'
)


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteCounts:
    """Stored launches and events: their numbers and tokens.

    `addresses` maps a transaction hash to its launched tokens' addresses in log order; without a launch, to its events'
    token addresses, which may be none. A transaction without launches and trusted events is absent.
    """

    launches: int
    events: int
    addresses: Mapping[str, tuple[str, ...]]
    # Malformed events from trusted emitters, which are left out.
    undecodable: Sequence[UndecodableLog] = ()


class _WrittenLaunches(NamedTuple):
    """Written launches: number, ids of existing tokens, and document URIs by new token id."""

    launches: int = 0
    existing: Sequence[int] = ()
    documents: Mapping[int, str] = MappingProxyType({})


def write_transactions(
    transactions: Sequence[TransactionFacts],
    *,
    chain: ChainInfo,
    lines: Mapping[LaunchKey, LaunchLine] = MappingProxyType({}),
    final: bool = False,
) -> WriteCounts:
    """Upsert a chain's mined transactions as tokens, events and states, and fold the changes.

    Rows that the same transactions have in another block are unwound: tokens are hidden, events deleted. A relaunched
    token keeps its id, creation time and operators' tags. Idempotent.

    Call it in a database transaction that holds the chain's lock (`chain_lock`) and the row of the transaction's index
    request, if any. `lines` has COPY lines that were made before; the others are made here. `final` means that no reorg
    can drop the transactions; each transaction's own `final` counts, too.
    """
    if not transactions:
        return WriteCounts(launches=0, events=0, addresses={})
    in_order = sorted(transactions, key=lambda facts: facts.block_number)
    launches = first_launches(in_order)
    _hide_relocated(in_order, chain_id=chain.chain_id, but=launches)
    final = final or all(facts.final for facts in transactions)
    written = _write_launches(launches, chain, lines, final=final)
    if launches:
        event_rows.link_orphan_claims(launches, chain_id=chain.chain_id)
    # After all launches, so that the events' tokens are stored.
    recorded = event_rows.store_events(in_order, chain=chain)
    read = state_rows.store_states(in_order, chain=chain)
    # Later changes and documents still apply, although the launch's own columns were just written.
    changed = {*recorded.changed, *read, *written.existing}
    event_rows.refresh_token_state(changed)
    # Only for unchanged tokens: `refresh_token_state` requests the documents of changed ones.
    request_documents({pk: uri for pk, uri in written.documents.items() if pk not in changed})
    addresses = dict(recorded.addresses)
    for facts in in_order:
        if facts.launches:
            addresses[facts.tx_hash] = tuple(launch.token for launch in facts.launches)
    return WriteCounts(
        launches=written.launches, events=recorded.count, addresses=addresses, undecodable=recorded.undecodable
    )


def leave_out_old_events(transactions: Sequence[TransactionFacts]) -> None:
    """Store no events in this database transaction if all transactions are older than EVENT_HISTORY_HOURS.

    Used by historical syncs, whose events are no news.
    """
    newest = max((facts.block_time for facts in transactions), default=0)
    if newest < timezone.now().timestamp() - 3600 * settings.EVENT_HISTORY_HOURS:
        leave_out_events()


def confirm_launches(chain_id: int, *, up_to_block: int) -> int:
    """Mark a chain's launches in blocks up to this one as final; return how many were not.

    Call it in a database transaction that holds the chain's lock.
    """
    return Token.objects.filter(chain_id=chain_id, block_number__lte=up_to_block).confirm()


def _hide_relocated(transactions: Sequence[TransactionFacts], *, chain_id: int, but: Mapping[str, Launch]) -> None:
    """Hide tokens that these transactions launched in other blocks, unless they launch them again.

    A token in the same block stays: a response without it is incomplete.
    """
    blocks = {facts.tx_hash: facts.block_hash for facts in transactions}
    tokens = Token.objects.on_chain().filter(equals_any("tx_hash", blocks), chain_id=chain_id)
    moved = [
        pk
        for pk, address, tx_hash, block_hash in tokens.values_list("pk", "contract_address", "tx_hash", "block_hash")
        if block_hash != blocks[tx_hash] and (address not in but or but[address].tx_hash != tx_hash)
    ]
    if moved:
        Token.objects.filter(pk__in=moved).hide()


def _write_launches(
    launches: Mapping[str, Launch], chain: ChainInfo, lines: Mapping[LaunchKey, LaunchLine], *, final: bool
) -> _WrittenLaunches:
    """Upsert tokens and the facts from which their columns are folded, except tokens with an earlier launch."""
    if not launches:
        return _WrittenLaunches()
    # No other transaction inserts this chain's tokens, but some update them.
    tokens = Token.objects.filter(equals_any("contract_address", launches), chain_id=chain.chain_id)
    locked = tokens.order_by("contract_address").select_for_update(no_key=True)
    stored = list(locked.only(*_PLACE))
    launches = without_later(launches, stored)
    before = [token for token in stored if token.contract_address in launches]
    pools = read_launch_pools(before)
    completed = complete_from_rows(launches.values(), chain_id=chain.chain_id)
    launches = {**launches, **completed}
    copy_lines = {
        address: (None if address in completed else lines.get(launch_key(launch)))
        or make_launch_line(launch, chain=chain)
        for address, launch in launches.items()
    }
    existing = {token.contract_address for token in before}
    new = [address for address in copy_lines if address not in existing]
    with connection.cursor() as cursor:
        ids = _insert(cursor, [copy_lines[address] for address in new], final=final)
        insert_next_pools(dict(zip(ids, (launches[address].next_pool for address in new), strict=True)))
        _update(cursor, [line for address, line in copy_lines.items() if address in existing], final=final)
    clear_displaced(before, pools, launches=launches, chain=chain)
    reset_relaunched_markets(before, pools, launches=launches)
    state_rows.drop_relaunched_states(before, launches=launches)
    open_undecoded(launches.values(), chain=chain)
    SocialProfile.objects.enqueue(each.requestor_fid for each in copy_lines.values() if each.requestor_fid is not None)
    return _WrittenLaunches(
        launches=len(launches),
        existing=[token.pk for token in before],
        documents={pk: uri for pk, address in zip(ids, new, strict=True) if (uri := launches[address].uri)},
    )


def _insert(cursor: CursorWrapper, lines: Sequence[LaunchLine], *, final: bool) -> Sequence[int]:
    """Insert tokens and their facts by COPY, with ids in this order, and return these.

    Triggers add the search entry and market row of each token, and store `token.indexed` and, if it is final,
    `token.confirmed`.
    """
    if not lines:
        return ()
    now = timezone.now()
    added = ["", str(final).lower(), *("false" for _ in _TAGS), *(str(now) for _ in _TIMES)]
    added_text = "\t".join(added).encode() + b"\n"
    tokens: list[bytes] = []
    facts: list[bytes] = []
    ids = reserve_ids(cursor, Token, len(lines))
    for token_id, each in zip(ids, lines, strict=True):
        # The facts are the last column, and JSON has no tab.
        of_token, _, of_launch = each.line.rpartition(b"\t")
        tokens += [b"%d\t" % token_id, of_token, added_text]
        facts += [b"%d\t" % token_id, of_launch]
    columns = ("id", *lines[0].columns[:-1], "confirmed", *_TAGS, *_TIMES)
    copy_into(cursor, "tokens_token", CopyText(columns, b"".join(tokens)))
    copy_into(cursor, "tokens_launchfacts", CopyText(("token_id", "facts"), b"".join(facts)))
    return ids


def _update(cursor: CursorWrapper, lines: Sequence[LaunchLine], *, final: bool) -> None:
    """Update existing tokens and upsert their facts.

    Triggers update search entries, and store `token.reorged`, `token.indexed`, `token.updated` or `token.confirmed`.
    """
    if not lines:
        return
    rows = CopyText(lines[0].columns, b"".join([each.line for each in lines]))
    columns = rows.columns[:-1]
    types = column_types(Token, columns) | column_types(LaunchFacts, ["facts"])
    updates = upsert_assignments(name for name in columns if name not in (*_IDENTITY, *CURRENT_COLUMNS))
    folded = ", ".join(map(_KEPT.format, CURRENT_COLUMNS))
    with staging_table(cursor, "staged_launch", types, rows):
        cursor.execute(_UPDATE.format(updates=f"{updates}, {folded}"), {"now": timezone.now(), "final": final})
