"""Events after launch: stored with their transaction, deleted with its block, folded into token columns."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from django.db import connection
from django.db.models.fields.json import KT

from config.postgresql.bulk_load import (
    array_literal,
    column_list,
    column_types,
    format_copy_rows,
    staging_table,
    upsert_assignments,
)
from tokens.chains.addresses import ZERO_ADDRESS, address_key
from tokens.chains.evm.generations.event_decoding import EventKind, FeePayment, read_payments
from tokens.chains.pool_types import UndecodableLog, order_currencies
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import TransactionFacts
from tokens.indexing.current_state import CURRENT_COLUMNS, Change, current_columns, current_uri
from tokens.indexing.documents.document_rows import request_documents
from tokens.indexing.event_sources import TrustedEvent, filter_trusted, trusted_pool_claims
from tokens.indexing.fact_json import Json, event_facts
from tokens.installation.installed_registry import registry
from tokens.models import CHANGE_KINDS, IndexRequest, LaunchFacts, Market, StoredState, Token, TokenEvent, TokenPool
from tokens.models.expressions import equals_any

_IDENTITY = ("chain_id", "tx_hash", "log_index")

# Triggers add events and claims to the daily sums of tokens/fees, and store `fees.claimed` for each new claim.
_UPSERT = """
WITH written AS (
    INSERT INTO tokens_tokenevent ({columns}) SELECT {columns} FROM staged_event
    ON CONFLICT ({identity}) DO UPDATE SET {updates}
    RETURNING id, chain_id, tx_hash, log_index, at
)
INSERT INTO tokens_feeclaim (event_id, chain_id, recipient, currency, amount, at)
SELECT written.id, written.chain_id, recipient, currency, amount, at
FROM unnest(%s::varchar[], %s::integer[], %s::varchar[], %s::varchar[], %s::numeric[])
    WITH ORDINALITY AS claim (tx_hash, log_index, recipient, currency, amount, place)
JOIN written USING (tx_hash, log_index)
ORDER BY place
ON CONFLICT (event_id, recipient, currency) DO UPDATE SET {paid}
"""
# Columns per claim in that statement.
_CLAIM_COLUMNS = 5
_LINK_ORPHANS = """
UPDATE tokens_tokenevent AS event SET token_id = token.id FROM tokens_token AS token
WHERE token.chain_id = %(chain_id)s AND token.contract_address = ANY(%(addresses)s)
    AND event.chain_id = token.chain_id AND event.token_id IS NULL
    AND event.arguments ->> 'token' = token.contract_address
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredEvents:
    """Stored events: their number and their tokens.

    `addresses` maps transaction hashes to the events' token addresses, in log order. `changed` has the ids of tokens
    to be refreshed.
    """

    count: int
    addresses: Mapping[str, tuple[str, ...]]
    changed: set[int]
    # Malformed events from trusted emitters, which are left out.
    undecodable: Sequence[UndecodableLog]


def store_events(transactions: Sequence[TransactionFacts], *, chain: ChainInfo) -> StoredEvents:
    """Store the events of mined transactions, in chain order.

    The caller refreshes the tokens in `changed`, and has stored the transactions' launches before. Events that these
    transactions had in another block are deleted. Idempotent. Call it in a database transaction.
    """
    changed = delete_events(_in_other_blocks(transactions, chain_id=chain.chain_id))
    # No block has two logs with the same index. If a node reports so, the later one counts.
    entries, undecodable = filter_trusted(transactions, chain=chain)
    entries += trusted_pool_claims(transactions, chain=chain)
    IndexRequest.objects.add_undecodable(chain.chain_id, undecodable)
    trusted = {(entry.tx_hash, entry.event.log_index): entry for entry in entries}
    changed |= {entry.token.pk for entry in trusted.values() if entry.token and entry.event.kind in CHANGE_KINDS}
    if trusted:
        _write(transactions, list(trusted.values()), chain_id=chain.chain_id)
    about = defaultdict[str, dict[str, None]](dict)
    for entry in trusted.values():
        about[entry.tx_hash] |= {entry.token.contract_address: None} if entry.token else {}
    addresses = {tx_hash: tuple(tokens) for tx_hash, tokens in about.items()}
    return StoredEvents(count=len(trusted), addresses=addresses, changed=changed, undecodable=undecodable)


def link_orphan_claims(addresses: Iterable[str], *, chain_id: int) -> None:
    """Attach stored fee claims to tokens indexed since.

    A node may omit a launch that is found later, and a chain's oldest blocks may be read last.
    Call it in a database transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute(_LINK_ORPHANS, {"chain_id": chain_id, "addresses": list(addresses)})


def refresh_token_state(token_ids: Iterable[int]) -> None:
    """Fold each token's launch, events, state and document into its columns; unchanged tokens are not written.

    Triggers store `token.updated` for each changed token, and update its search entry.

    Call it in a database transaction: concurrent changes to a token are serialized, and the later one reads all
    changes.
    """
    ids = set(token_ids)
    if not ids:
        return
    # Without `no_key`, writers of the token's events would block, too.
    tokens = list(Token.objects.filter(pk__in=ids).order_by("pk").select_for_update(no_key=True))
    # Read only after the lock: a locking statement itself sees other rows as they were when it began.
    launches = LaunchFacts.objects.filter(token__in=tokens)
    stored = launches.values_list("token_id", "facts", "token__document__content")
    facts = {token_id: (of_launch, document) for token_id, of_launch, document in stored}
    changes = _changes_of(tokens)
    folded = [(token, _fold(token, *facts[token.pk], changes[token.pk])) for token in tokens if token.pk in facts]
    # The cost of bulk_update grows with the number of columns; most changes concern one or two.
    columns = [name for name in CURRENT_COLUMNS if any(name in changed for _, changed in folded)]
    if columns:
        Token.objects.bulk_update([token for token, changed in folded if changed], columns)
    # An earlier move that is read later changes the stored pools, but not the current pool.
    moved = [token for token, changed in folded if "pool_address" in changed or _has_moved(changes[token.pk])]
    store_pools(moved, facts={token_id: of_launch for token_id, (of_launch, _) in facts.items()})
    uris = ((token, current_uri(facts[token.pk][0], changes[token.pk])) for token, _ in folded)
    request_documents({token.pk: uri for token, uri in uris if uri})


def _fold(token: Token, facts: Json, document: Json | None, changes: Sequence[Change]) -> set[str]:
    """Set a token's current columns. Return the names of changed columns."""
    now = current_columns(facts, changes, extensions=token.extensions, document=document)
    changed = {name for name, value in now.items() if getattr(token, name) != value}
    for name in changed:
        setattr(token, name, now[name])
    return changed


def _has_moved(changes: Iterable[Change]) -> bool:
    return any(change.kind == EventKind.POOL_CHANGED for change in changes)


def _changes_of(tokens: Sequence[Token]) -> defaultdict[int, list[Change]]:
    """Return token id -> its state and events, only the last event per kind and fee share.

    A token's admin may make any number of changes.
    """
    changes_by_token: defaultdict[int, list[Change]] = defaultdict(list)
    changes = TokenEvent.objects.filter(token__in=tokens, kind__in=CHANGE_KINDS)
    of = ("token_id", "kind", "share")
    last = changes.annotate(share=KT("arguments__rewardIndex")).order_by(*of, "-block_number", "-log_index")
    columns = ("token_id", "block_number", "log_index", "kind", "arguments", "share")
    for token_id, *change, _ in last.distinct(*of).values_list(*columns):
        changes_by_token[token_id].append(Change._make(change))
    states = StoredState.objects.filter(token__in=tokens)
    for token_id, block_number, facts in states.values_list("token_id", "block_number", "facts"):
        changes_by_token[token_id].append(Change.by_state(block_number, facts))
    return changes_by_token


def store_pools(tokens: Sequence[Token], *, facts: Mapping[int, Json]) -> None:
    """Replace the pools of tokens that moved, or whose moves were unwound; `facts` has launch facts by token id.

    The first move of a token that was launched on a curve is its graduation. Call it in a database transaction that has
    locked the tokens.
    """
    if not tokens:
        return
    pools = defaultdict[int, dict[str | None, _PoolSides]](dict)
    first_moves = dict[int, datetime]()
    moves = TokenEvent.objects.filter(token__in=tokens, kind=EventKind.POOL_CHANGED)
    in_order = moves.order_by("block_number", "log_index").values_list("token_id", "at", "arguments")
    for token_id, moved_at, arguments in in_order:
        first_moves.setdefault(token_id, moved_at)
        pools[token_id][arguments["pool"]] = _PoolSides(arguments["isCurrency0"], arguments["hook"])
    for token in tokens:
        of_launch, token_pools = facts[token.pk], pools[token.pk]
        token_pools.setdefault(of_launch.get("next_pool"), _PoolSides(None, None))
        token_pools = {
            pool: sides if sides.is_currency0 is not None else sides._replace(is_currency0=_is_currency0(token))
            for pool, sides in token_pools.items()
            if pool
        }
        if token_pools:
            token_pools[(of_launch["pool"] or {}).get("address")] = _PoolSides(None, None)
        pools[token.pk] = token_pools
    TokenPool.objects.filter(token__in=tokens).delete()
    TokenPool.objects.bulk_create(
        TokenPool(token=token, pool_address=pool, is_currency0=sides.is_currency0, hook=sides.hook or "")
        for token in tokens
        for pool, sides in pools[token.pk].items()
        if pool
    )
    of_curves = [token.pk for token in tokens if facts[token.pk].get("curve_config") and not _is_on_solana(token)]
    _store_graduations(of_curves, first_moves)


def _is_on_solana(token: Token) -> bool:
    return token.chain_id == registry().solana.chain_id


def _store_graduations(token_ids: Collection[int], graduated_at: Mapping[int, datetime]) -> None:
    """Store when tokens left their declared curves, or that they did not, with the curve's progress."""
    stored = Market.objects.filter(pk__in=token_ids).values_list("pk", "graduated_at")
    for token_id, former in stored:
        left_at = graduated_at.get(token_id)
        if left_at != former:
            # No event has a declared curve's progress before its end.
            Market.objects.filter(pk=token_id).update(graduated_at=left_at, curve_progress=100 if left_at else None)


class _PoolSides(NamedTuple):
    is_currency0: bool | None
    hook: str | None


def _is_currency0(token: Token) -> bool:
    """Return whether the token is currency 0 in a pool with its quote token, or with the wrapped native coin."""
    quote = token.paired_token
    if quote == ZERO_ADDRESS:
        quote = registry().chains[token.chain_id].wrapped_native or quote
    return address_key(token.contract_address) < address_key(quote)


def delete_events(event_ids: Sequence[int]) -> set[int]:
    """Delete events with their claims. Return the ids of tokens that they changed.

    Triggers subtract both from the daily sums, and store `fees.reorged` for each claim.
    """
    if not event_ids:
        return set()
    events = TokenEvent.objects.filter(pk__in=event_ids)
    changed = set(events.filter(kind__in=CHANGE_KINDS).values_list("token_id", flat=True))
    events.delete()
    return {token_id for token_id in changed if token_id is not None}


def _in_other_blocks(transactions: Sequence[TransactionFacts], *, chain_id: int) -> list[int]:
    """Return event ids of these transactions that are stored for other blocks."""
    blocks = {facts.tx_hash: facts.block_hash for facts in transactions}
    events = TokenEvent.objects.filter(equals_any("tx_hash", blocks), chain_id=chain_id)
    return [
        pk
        for pk, tx_hash, block_hash in events.values_list("pk", "tx_hash", "block_hash")
        if block_hash != blocks[tx_hash]
    ]


def _write(transactions: Sequence[TransactionFacts], trusted: Sequence[TrustedEvent], *, chain_id: int) -> None:
    holders = {facts.tx_hash: facts for facts in transactions}
    rows = [_event_row(entry, holders[entry.tx_hash], chain_id=chain_id) for entry in trusted]
    claims = [
        (entry.tx_hash, entry.event.log_index, payment.recipient, payment.currency, payment.amount)
        for entry in trusted
        for payment in _payments(entry)
    ]
    statement = _UPSERT.format(
        columns=column_list(rows[0]),
        identity=column_list(_IDENTITY),
        updates=upsert_assignments(name for name in rows[0] if name not in _IDENTITY),
        paid=upsert_assignments(("amount", "at", "chain_id")),
    )
    with (
        connection.cursor() as cursor,
        staging_table(cursor, "staged_event", column_types(TokenEvent, rows[0]), format_copy_rows(rows)),
    ):
        cursor.execute(statement, [array_literal(claim[index] for claim in claims) for index in range(_CLAIM_COLUMNS)])


def _payments(entry: TrustedEvent) -> tuple[FeePayment, ...]:
    token = entry.token
    if token is None:
        return read_payments(entry.event, pair=None)
    wrapped = registry().chains[token.chain_id].wrapped_native
    pool = entry.event.pool or ""
    pair = order_currencies(token.contract_address, token.paired_token, pool=pool, wrapped_native=wrapped)
    return read_payments(entry.event, pair=pair, token=token.contract_address)


def _event_row(entry: TrustedEvent, facts: TransactionFacts, *, chain_id: int) -> Json:
    return {
        "chain_id": chain_id,
        "tx_hash": facts.tx_hash,
        "log_index": entry.event.log_index,
        "block_number": facts.block_number,
        "block_hash": facts.block_hash,
        "at": datetime.fromtimestamp(facts.block_time, UTC),
        "kind": entry.event.kind,
        "emitter": entry.event.emitter,
        "token_id": entry.token and entry.token.pk,
        "arguments": event_facts(entry.event.arguments),
    }
