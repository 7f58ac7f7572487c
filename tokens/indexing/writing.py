"""What transactions hold becomes rows: the one way for a single transaction and for thousands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from django.db import connection
from django.utils import timezone

from accounts.profiles import social_refresh
from config.postgresql.bulk_load import CopyText, assignments, column_types, names, staged
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import Launch, TransactionFacts
from tokens.indexing import event_rows as events
from tokens.indexing.documents.document_rows import want_documents
from tokens.indexing.launch_rows import LaunchKey, LaunchLine, launch_key, make_line
from tokens.indexing.market_relaunch import follow_relaunched
from tokens.models import LaunchFacts, Token
from tokens.models.querysets import one_of

_IDENTITY = ("chain_id", "contract_address")
# The operators' own, which nothing on the chain changes.
_TAGS = ("champagne", "verified", "blocked")

# A row that was there is locked before it is changed, and bears the mark of it.
_UPSERT = """
WITH written AS (
    INSERT INTO tokens_token ({columns}, {tags}, created_at, last_indexed)
    SELECT {columns}, {no_tags}, %(now)s, %(now)s FROM staged_launch
    ON CONFLICT ({identity}) DO UPDATE SET {news}, last_indexed = EXCLUDED.last_indexed
    RETURNING id, contract_address, tokens_token.xmax <> 0 AS was_there
), kept AS (
    INSERT INTO tokens_launchfacts (token_id, facts)
    SELECT written.id, staged_launch.facts FROM written JOIN staged_launch USING (contract_address)
    ON CONFLICT (token_id) DO UPDATE SET facts = EXCLUDED.facts
)
SELECT id FROM written WHERE was_there
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """How many launches and events of transactions are kept, and whose.

    `addresses` are by transaction hash those of its launched tokens in log order; where none was launched, of those
    that its events are about, which may be none. A transaction that holds nothing for us is absent.
    """

    launches: int
    events: int
    addresses: Mapping[str, tuple[str, ...]]


def write(
    transactions: Sequence[TransactionFacts],
    *,
    chain: ChainInfo,
    lines: Mapping[LaunchKey, LaunchLine] = MappingProxyType({}),
) -> Written:
    """Upsert the tokens and events of mined transactions of a chain, and fold what changed.

    What another block held of the same transactions is taken back: its tokens are hidden, its events go. A token that
    is launched again keeps its id, its time of creation and the operators' tags. Safe to repeat. To be called in a
    database transaction that shares or owns the chain (`chain_lock`), and that holds the request's row where there is
    one. `lines` are those of launches that were made ahead; the others are made here.
    """
    in_order = sorted(transactions, key=lambda facts: facts.block_number)
    # No chain launches the same token twice; of a node that says so, the later launch counts.
    launches = {launch.token: launch for facts in in_order for launch in facts.launches}
    _hide_moved(in_order, chain_id=chain.chain_id, but=launches)
    rewritten = _write_launches(launches, chain, lines)
    events.adopt(launches, chain_id=chain.chain_id)
    # After all launches, so that those are known that the events are about.
    recorded = events.record(in_order, chain=chain)
    # What happened since a launch holds, and what its document says, although its own columns were just written.
    events.bring_up_to_date(recorded.changed | events.changed_among(rewritten))
    addresses = dict(recorded.addresses)
    for facts in in_order:
        if facts.launches:
            addresses[facts.tx_hash] = tuple(launch.token for launch in facts.launches)
    return Written(launches=len(launches), events=recorded.count, addresses=addresses)


def _hide_moved(transactions: Sequence[TransactionFacts], *, chain_id: int, but: Mapping[str, Launch]) -> None:
    """Hide what these transactions launched in other blocks, unless it is launched again.

    A token of the same block stays: an answer without it is half an answer.
    """
    blocks = {facts.tx_hash: facts.block_hash for facts in transactions}
    known = Token.objects.on_chain().filter(one_of("tx_hash", blocks), chain_id=chain_id)
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
    """Upsert tokens and the facts from which their columns are folded; the ids of those that were there."""
    if not launches:
        return []
    # Locked by address: of two who write the same tokens, whatever order their chains have, one waits for the other.
    known = Token.objects.filter(one_of("contract_address", launches), chain_id=chain.chain_id)
    locked = known.order_by("contract_address").select_for_update(no_key=True)
    before = list(locked.only("contract_address", "pool_address", "unindexed"))
    made = [lines.get(launch_key(launch)) or make_line(launch, chain=chain) for launch in launches.values()]
    rows = CopyText(made[0].columns, b"".join([each.line for each in made]))
    columns = [name for name in rows.columns if name != "facts"]
    statement = _UPSERT.format(
        columns=names(columns),
        tags=names(_TAGS),
        no_tags=", ".join("false" for _ in _TAGS),
        identity=names(_IDENTITY),
        news=assignments(name for name in columns if name not in _IDENTITY),
    )
    types = column_types(Token, columns) | column_types(LaunchFacts, ["facts"])
    with connection.cursor() as cursor, staged(cursor, "staged_launch", types, rows):
        cursor.execute(statement, {"now": timezone.now()})
        rewritten = [pk for (pk,) in cursor.fetchall()]
    follow_relaunched(before, launches=launches)
    want_documents(launches, chain_id=chain.chain_id)
    social_refresh.want(each.requestor_fid for each in made if each.requestor_fid is not None)
    return rewritten
