"""Writing of mined transactions to rows: one code path for a single transaction and for thousands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from django.db import connection
from django.utils import timezone

from accounts.profiles import social_refresh
from config.postgresql.bulk_load import CopyText, column_list, column_types, staging_table, upsert_assignments
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import Launch, TransactionFacts
from tokens.indexing import event_rows
from tokens.indexing.documents.document_rows import request_documents
from tokens.indexing.launch_rows import LaunchKey, LaunchLine, launch_key, make_launch_line
from tokens.indexing.market_relaunch import reset_relaunched_markets
from tokens.models import LaunchFacts, Token
from tokens.models.expressions import equals_any

_IDENTITY = ("chain_id", "contract_address")
# Set by operators; nothing on the chain changes them.
_TAGS = ("champagne", "verified", "blocked")

# An existing row is locked before it is updated, so that its xmax is set.
_UPSERT = """
WITH written AS (
    INSERT INTO tokens_token ({columns}, {tags}, created_at, last_indexed)
    SELECT {columns}, {no_tags}, %(now)s, %(now)s FROM staged_launch
    ON CONFLICT ({identity}) DO UPDATE SET {updates}, last_indexed = EXCLUDED.last_indexed
    RETURNING id, contract_address, tokens_token.xmax <> 0 AS existed
), kept AS (
    INSERT INTO tokens_launchfacts (token_id, facts)
    SELECT written.id, staged_launch.facts FROM written JOIN staged_launch USING (contract_address)
    ON CONFLICT (token_id) DO UPDATE SET facts = EXCLUDED.facts
)
SELECT id FROM written WHERE existed
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class WriteCounts:
    """Counts of launches and events that are stored, and their tokens.

    `addresses` maps a transaction hash to the addresses of its launched tokens in log order; without a launch, to those
    of its events' tokens, which may be none. A transaction without launches and trusted events is absent.
    """

    launches: int
    events: int
    addresses: Mapping[str, tuple[str, ...]]


def write_transactions(
    transactions: Sequence[TransactionFacts],
    *,
    chain: ChainInfo,
    lines: Mapping[LaunchKey, LaunchLine] = MappingProxyType({}),
) -> WriteCounts:
    """Upsert the tokens and events of mined transactions of a chain, and fold what changed.

    Rows of the same transactions in another block are unwound: tokens are hidden, events deleted. A token that is
    launched again keeps its id, its time of creation and the operators' tags. Idempotent.

    Call it in a database transaction that holds the chain's lock, shared or exclusive (`chain_lock`), and the row of
    the transaction's index request, if any. `lines` are COPY lines of launches that were made before; the others are
    made here.
    """
    in_order = sorted(transactions, key=lambda facts: facts.block_number)
    # No chain launches the same token twice. If a node reports so, the later launch counts.
    launches = {launch.token: launch for facts in in_order for launch in facts.launches}
    _hide_relocated(in_order, chain_id=chain.chain_id, but=launches)
    rewritten = _write_launches(launches, chain, lines)
    event_rows.link_orphan_claims(launches, chain_id=chain.chain_id)
    # After all launches, so that the tokens of the events are stored.
    recorded = event_rows.store_events(in_order, chain=chain)
    # Later events and documents still apply, although the launch's own columns were just written.
    event_rows.refresh_token_state(recorded.changed | event_rows.filter_changed(rewritten))
    addresses = dict(recorded.addresses)
    for facts in in_order:
        if facts.launches:
            addresses[facts.tx_hash] = tuple(launch.token for launch in facts.launches)
    return WriteCounts(launches=len(launches), events=recorded.count, addresses=addresses)


def _hide_relocated(transactions: Sequence[TransactionFacts], *, chain_id: int, but: Mapping[str, Launch]) -> None:
    """Hide tokens that these transactions launched in other blocks, unless they are launched again.

    A token of the same block stays: a response without it is incomplete.
    """
    blocks = {facts.tx_hash: facts.block_hash for facts in transactions}
    known = Token.objects.on_chain().filter(equals_any("tx_hash", blocks), chain_id=chain_id)
    moved = [
        pk
        for pk, address, tx_hash, block_hash in known.values_list("pk", "contract_address", "tx_hash", "block_hash")
        if block_hash != blocks[tx_hash] and address not in but
    ]
    if moved:
        Token.objects.filter(pk__in=moved).update(unindexed=True)


def _write_launches(
    launches: Mapping[str, Launch], chain: ChainInfo, lines: Mapping[LaunchKey, LaunchLine]
) -> list[int]:
    """Upsert tokens and the facts from which their columns are folded. Return the ids of those that existed."""
    if not launches:
        return []
    # Locked in the order of addresses, to avoid a deadlock of two writers of the same tokens.
    known = Token.objects.filter(equals_any("contract_address", launches), chain_id=chain.chain_id)
    locked = known.order_by("contract_address").select_for_update(no_key=True)
    before = list(locked.only("contract_address", "pool_address", "unindexed"))
    made = [lines.get(launch_key(launch)) or make_launch_line(launch, chain=chain) for launch in launches.values()]
    rows = CopyText(made[0].columns, b"".join([each.line for each in made]))
    columns = [name for name in rows.columns if name != "facts"]
    statement = _UPSERT.format(
        columns=column_list(columns),
        tags=column_list(_TAGS),
        no_tags=", ".join("false" for _ in _TAGS),
        identity=column_list(_IDENTITY),
        updates=upsert_assignments(name for name in columns if name not in _IDENTITY),
    )
    types = column_types(Token, columns) | column_types(LaunchFacts, ["facts"])
    with connection.cursor() as cursor, staging_table(cursor, "staged_launch", types, rows):
        cursor.execute(statement, {"now": timezone.now()})
        rewritten = [pk for (pk,) in cursor.fetchall()]
    reset_relaunched_markets(before, launches=launches)
    request_documents(launches, chain_id=chain.chain_id)
    social_refresh.enqueue_profiles(each.requestor_fid for each in made if each.requestor_fid is not None)
    return rewritten
