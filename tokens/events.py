"""Events after launch: written with the transaction that holds them, taken back with its block, folded into tokens."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import QuerySet
from django.db.models.fields.json import KT

from tokens.chains.base import TransactionFacts
from tokens.chains.events import read_payments
from tokens.chains.registry import ChainInfo
from tokens.current_state import CHANGING_COLUMNS, Change, current_columns
from tokens.event_sources import BelievedEvent, believe, pool_currencies
from tokens.facts import Json, event_facts
from tokens.models import CHANGES, FeeClaim, LaunchFacts, Token, TokenEvent

_IDENTITY = ("chain_id", "tx_hash", "log_index")
_CLAIM = ("event", "recipient", "currency")


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """How many events of a transaction are kept, and the addresses of the tokens that they are about, in log order."""

    count: int
    addresses: tuple[str, ...]


def record(facts: TransactionFacts, *, chain: ChainInfo) -> Recorded:
    """Keep the events of a mined transaction, and bring the tokens up to date that they change.

    Launches of the same transaction are to be written first. What another block held of it is taken back. Safe to
    repeat. To be called in a database transaction that holds the request's row.
    """
    believed = believe(facts.event_logs, chain=chain)
    stale = TokenEvent.objects.filter(chain_id=chain.chain_id, tx_hash=facts.tx_hash)
    changed = _delete(stale.exclude(block_hash=facts.block_hash))
    changed |= {entry.token.pk for entry in believed if entry.token and entry.event.kind in CHANGES}
    if believed:
        _write(believed, facts, chain_id=chain.chain_id)
    bring_up_to_date(changed)
    addresses = dict.fromkeys(entry.token.contract_address for entry in believed if entry.token)
    return Recorded(count=len(believed), addresses=tuple(addresses))


def take_back(*, chain_id: int, tx_hash: str) -> None:
    """Forget the events of a transaction whose block was dropped, and what they changed."""
    bring_up_to_date(_delete(TokenEvent.objects.filter(chain_id=chain_id, tx_hash=tx_hash)))


def bring_up_to_date(token_ids: Iterable[int]) -> None:
    """Fold launch and events of tokens into their columns; a token that is up to date is not written.

    To be called in a database transaction: two that change the same token take turns, and the later one sees all.
    """
    wanted = set(token_ids)
    if not wanted:
        return
    # Without `no_key`, whoever writes an event of the token would wait, too.
    tokens = list(Token.objects.filter(pk__in=wanted).order_by("pk").select_for_update(no_key=True))
    # Only now: what is read in the locking statement itself is as old as its beginning, the locked rows aside.
    facts = dict(LaunchFacts.objects.filter(token__in=tokens).values_list("token_id", "facts"))
    changes = _changes_of(tokens)
    stale = [token for token in tokens if token.pk in facts and _fold(token, facts[token.pk], changes[token.pk])]
    if stale:
        Token.objects.bulk_update(stale, CHANGING_COLUMNS)


def _fold(token: Token, facts: Json, changes: Sequence[Change]) -> bool:
    """Set what the token's launch and changes say; whether that is anything new."""
    now = current_columns(facts, changes, extensions=token.extensions)
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


def _delete(events: QuerySet[TokenEvent]) -> set[int]:
    """Delete events with their claims; the ids of the tokens that they changed."""
    doomed = list(events.values_list("pk", "token_id", "kind"))
    if doomed:
        TokenEvent.objects.filter(pk__in=[pk for pk, _, _ in doomed]).delete()
    return {token_id for _, token_id, kind in doomed if token_id is not None and kind in CHANGES}


def _write(believed: Sequence[BelievedEvent], facts: TransactionFacts, *, chain_id: int) -> None:
    at = datetime.fromtimestamp(facts.block_time, UTC)
    rows = [
        TokenEvent(
            chain_id=chain_id,
            tx_hash=facts.tx_hash,
            log_index=entry.event.log_index,
            block_number=facts.block_number,
            block_hash=facts.block_hash,
            at=at,
            kind=entry.event.kind,
            emitter=entry.event.emitter,
            token=entry.token,
            arguments=event_facts(entry.event.arguments),
        )
        for entry in believed
    ]
    fields = [field.name for field in TokenEvent._meta.concrete_fields if field.name not in ("id", *_IDENTITY)]
    TokenEvent.objects.bulk_create(rows, update_conflicts=True, unique_fields=_IDENTITY, update_fields=fields)
    claims = [
        FeeClaim(
            event=row,
            chain_id=chain_id,
            recipient=payment.recipient,
            currency=payment.currency,
            amount=payment.amount,
            at=at,
        )
        for row, entry in zip(rows, believed, strict=True)
        for payment in read_payments(entry.event, pair=pool_currencies(entry.token) if entry.token else None)
    ]
    FeeClaim.objects.bulk_create(
        claims, update_conflicts=True, unique_fields=_CLAIM, update_fields=["amount", "at", "chain_id"]
    )
