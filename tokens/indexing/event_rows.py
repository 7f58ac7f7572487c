"""Events after launch: written with the transaction that holds them, taken back with its block, folded into tokens."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import connection
from django.db.models.fields.json import KT

from config.postgresql.bulk_load import assignments, column_types, copy_text, names, staged
from tokens.chains.evm.generations.event_decoding import read_payments
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import TransactionFacts
from tokens.indexing.current_state import CHANGING_COLUMNS, Change, current_columns
from tokens.indexing.event_sources import BelievedEvent, believe, believe_claims, pool_currencies
from tokens.indexing.fact_json import Json, event_facts
from tokens.models import CHANGES, LaunchFacts, Token, TokenDocument, TokenEvent
from tokens.models.querysets import one_of

_IDENTITY = ("chain_id", "tx_hash", "log_index")


_UPSERT = """
WITH written AS (
    INSERT INTO tokens_tokenevent ({columns}) SELECT {columns} FROM staged_event
    ON CONFLICT ({identity}) DO UPDATE SET {news}
    RETURNING id, chain_id, tx_hash, log_index, at
)
INSERT INTO tokens_feeclaim (event_id, chain_id, recipient, currency, amount, at)
SELECT written.id, written.chain_id, recipient, currency, amount, at
FROM staged_claim JOIN written USING (tx_hash, log_index)
ORDER BY place
ON CONFLICT (event_id, recipient, currency) DO UPDATE SET {paid}
"""
_ADOPT = """
UPDATE tokens_tokenevent AS event SET token_id = token.id FROM tokens_token AS token
WHERE token.chain_id = %(chain_id)s AND token.contract_address = ANY(%(addresses)s)
    AND event.chain_id = token.chain_id AND event.token_id IS NULL
    AND event.arguments ->> 'token' = token.contract_address
"""
_STAGED_CLAIM = {
    "place": "integer",
    "tx_hash": "varchar",
    "log_index": "integer",
    "recipient": "varchar",
    "currency": "varchar",
    "amount": "numeric",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """How many events are kept; transaction hash -> the addresses of the tokens that they are about, in log order.

    `changed` are the ids of tokens whose columns are to be folded anew.
    """

    count: int
    addresses: Mapping[str, tuple[str, ...]]
    changed: set[int]


def record(transactions: Sequence[TransactionFacts], *, chain: ChainInfo) -> Recorded:
    """Keep the events of mined transactions, in the order of their chain; who calls brings up to date what changed.

    Launches of the same transactions are to be written first. What another block held of them is taken back. Safe to
    repeat. To be called in a database transaction.
    """
    changed = delete(_moved(transactions, chain_id=chain.chain_id))
    # No block has two logs with the same number; of a node that says so, the later one counts.
    found = (*believe(transactions, chain=chain), *believe_claims(transactions, chain=chain))
    believed = {(entry.tx_hash, entry.event.log_index): entry for entry in found}
    changed |= {entry.token.pk for entry in believed.values() if entry.token and entry.event.kind in CHANGES}
    if believed:
        _write(transactions, list(believed.values()), chain_id=chain.chain_id)
    about = defaultdict[str, dict[str, None]](dict)
    for entry in believed.values():
        about[entry.tx_hash] |= {entry.token.contract_address: None} if entry.token else {}
    addresses = {tx_hash: tuple(tokens) for tx_hash, tokens in about.items()}
    return Recorded(count=len(believed), addresses=addresses, changed=changed)


def adopt(addresses: Iterable[str], *, chain_id: int) -> None:
    """Give tokens that are known now the claims in them, which were kept as those in a currency of nobody's.

    A node may leave a launch out that is found later, and what lies before the first block that was read may be read
    last. To be called in a database transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ADOPT, {"chain_id": chain_id, "addresses": list(addresses)})


def changed_among(token_ids: Sequence[int]) -> set[int]:
    """Those of these tokens of which events or documents tell more than their launch."""
    changes = TokenEvent.objects.filter(token__in=token_ids, kind__in=CHANGES)
    documents = TokenDocument.objects.filter(token__in=token_ids).exclude(content={})
    found = changes.order_by().values_list("token_id", flat=True).union(documents.values_list("token_id", flat=True))
    return {token_id for token_id in found if token_id is not None}


def bring_up_to_date(token_ids: Iterable[int]) -> None:
    """Fold launch, events and documents of tokens into their columns; a token that is up to date is not written.

    To be called in a database transaction: two that change the same token take turns, and the later one sees all.
    """
    wanted = set(token_ids)
    if not wanted:
        return
    # Without `no_key`, whoever writes an event of the token would wait, too.
    tokens = list(Token.objects.filter(pk__in=wanted).order_by("pk").select_for_update(no_key=True))
    # Only now: what is read in the locking statement itself is as old as its beginning, the locked rows aside.
    launches = LaunchFacts.objects.filter(token__in=tokens)
    told = launches.values_list("token_id", "facts", "token__document__content")
    facts = {token_id: (of_launch, document) for token_id, of_launch, document in told}
    changes = _changes_of(tokens)
    stale = [token for token in tokens if token.pk in facts and _fold(token, *facts[token.pk], changes[token.pk])]
    if stale:
        Token.objects.bulk_update(stale, CHANGING_COLUMNS)


def _fold(token: Token, facts: Json, document: Json | None, changes: Sequence[Change]) -> bool:
    """Set what the token's launch, its document and its changes say; whether that is anything new."""
    now = current_columns(facts, changes, extensions=token.extensions, document=document)
    news = {name: value for name, value in now.items() if getattr(token, name) != value}
    for name, value in news.items():
        setattr(token, name, value)
    return bool(news)


def _changes_of(tokens: Sequence[Token]) -> defaultdict[int, list[Change]]:
    """Token id -> its changes, of each kind and share of fees the last one: an admin may make any number of them."""
    found: defaultdict[int, list[Change]] = defaultdict(list)
    changes = TokenEvent.objects.filter(token__in=tokens, kind__in=CHANGES)
    of = ("token_id", "kind", "share")
    last = changes.annotate(share=KT("arguments__rewardIndex")).order_by(*of, "-block_number", "-log_index")
    for token_id, kind, _, arguments in last.distinct(*of).values_list(*of, "arguments"):
        found[token_id].append((kind, arguments))
    return found


def delete(event_ids: Sequence[int]) -> set[int]:
    """Delete events with their claims; the ids of the tokens that they changed."""
    if not event_ids:
        return set()
    doomed = TokenEvent.objects.filter(pk__in=event_ids)
    changed = set(doomed.filter(kind__in=CHANGES).values_list("token_id", flat=True))
    doomed.delete()
    return {token_id for token_id in changed if token_id is not None}


def _moved(transactions: Sequence[TransactionFacts], *, chain_id: int) -> list[int]:
    """The ids of events that other blocks held of these transactions."""
    blocks = {facts.tx_hash: facts.block_hash for facts in transactions}
    known = TokenEvent.objects.filter(one_of("tx_hash", blocks), chain_id=chain_id)
    return [
        pk
        for pk, tx_hash, block_hash in known.values_list("pk", "tx_hash", "block_hash")
        if block_hash != blocks[tx_hash]
    ]


def _write(transactions: Sequence[TransactionFacts], believed: Sequence[BelievedEvent], *, chain_id: int) -> None:
    holders = {facts.tx_hash: facts for facts in transactions}
    rows = [_event_row(entry, holders[entry.tx_hash], chain_id=chain_id) for entry in believed]
    claims = [
        {
            "place": place,
            "tx_hash": entry.tx_hash,
            "log_index": entry.event.log_index,
            "recipient": payment.recipient,
            "currency": payment.currency,
            "amount": payment.amount,
        }
        for place, entry in enumerate(believed)
        for payment in read_payments(entry.event, pair=pool_currencies(entry.token) if entry.token else None)
    ]
    statement = _UPSERT.format(
        columns=names(rows[0]),
        identity=names(_IDENTITY),
        news=assignments(name for name in rows[0] if name not in _IDENTITY),
        paid=assignments(("amount", "at", "chain_id")),
    )
    with (
        connection.cursor() as cursor,
        staged(cursor, "staged_event", column_types(TokenEvent, rows[0]), copy_text(rows)),
        staged(cursor, "staged_claim", _STAGED_CLAIM, copy_text(claims)),
    ):
        cursor.execute(statement)


def _event_row(entry: BelievedEvent, facts: TransactionFacts, *, chain_id: int) -> Json:
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
