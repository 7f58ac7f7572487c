"""Listed transactions, read oldest first, several requests at a time, and written with their account's progress."""

import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from config.http.json_client import Retryable
from config.postgresql.bulk_load import commit_lazily
from tokens.chains.solana.solana_chain import SolanaChain
from tokens.chains.types import LogUndecodable, TransactionFacts, TransactionNotFound
from tokens.following.coverage import Overtaken
from tokens.following.solana import followed_accounts
from tokens.indexing import chain_lock, writing
from tokens.models import FollowedAccount, IndexRequest, ListedSignature

logger = logging.getLogger(__name__)

# So many requests' worth of transactions are read before they are written.
_REQUESTS_AT_ONCE = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """How many transactions were read and written, and how many launches they held."""

    transactions: int
    launches: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    """What some transactions hold, and signature -> why one of them can't be read by this version of the service."""

    rows: Sequence[ListedSignature]
    facts: tuple[TransactionFacts, ...]
    poison: Mapping[str, str] = field(default_factory=dict)
    # Whether one that was asked for is lacking behind these.
    is_cut: bool = False


def read_some(account: FollowedAccount, *, chain: SolanaChain) -> Read:
    """Read and write the oldest transactions that are listed, in one transaction of the database.

    One that no node gives yet holds up what is behind it, and nothing before it. One that can't be decoded is noted as
    a failed index request, and passed. Raises Retryable, Overtaken.
    """
    rows = list(followed_accounts.unread(account)[: _REQUESTS_AT_ONCE * settings.RPC_BATCH_SIZE])
    parts = _read(rows, chain)
    facts = [found for part in parts for found in part.facts]
    done = [row for part in parts for row in part.rows]
    with transaction.atomic():
        commit_lazily()
        if facts:
            chain_lock.own(account.chain_id)
        followed_accounts.move(account)
        _mark(done, account)
        if facts:
            writing.write(facts, chain=chain.info)
        for part in parts:
            _note_poison(part, chain_id=account.chain_id)
    return Read(transactions=len(done), launches=sum(len(found.launches) for found in facts))


def _read(rows: Sequence[ListedSignature], chain: SolanaChain) -> list[_Part]:
    """What the rows' transactions hold, up to the first request that fails. Raises Retryable where none went well."""
    size = settings.RPC_BATCH_SIZE
    requests = [rows[start : start + size] for start in range(0, len(rows), size)]
    parts: list[_Part] = []
    with ThreadPoolExecutor(settings.FOLLOW_CONCURRENCY, thread_name_prefix="read-signatures") as pool:
        for future in [pool.submit(_read_part, request, chain) for request in requests]:
            try:
                part = future.result()
            except Retryable:
                pool.shutdown(wait=False, cancel_futures=True)
                if not parts:
                    raise
                break
            parts.append(part)
            if part.is_cut:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    return parts


def _read_part(rows: Sequence[ListedSignature], chain: SolanaChain) -> _Part:
    """By a thread that may not use the database. Raises Retryable where not even the oldest one can be read."""
    try:
        found = chain.read_transactions([row.signature for row in rows])
    except (LogUndecodable, TransactionNotFound):
        return _read_singly(rows, chain)
    return _Part(rows=rows, facts=tuple(found.values()))


def _read_singly(rows: Sequence[ListedSignature], chain: SolanaChain) -> _Part:
    """What the rows hold up to the first one that no node gives yet. Raises Retryable where that is the oldest."""
    facts: list[TransactionFacts] = []
    poison: dict[str, str] = {}
    for number, row in enumerate(rows):
        try:
            facts += chain.read_transactions([row.signature]).values()
        except LogUndecodable as error:
            poison[row.signature] = str(error)
        except Retryable:
            if not number:
                raise
            return _Part(rows=rows[:number], facts=tuple(facts), poison=poison, is_cut=True)
    return _Part(rows=rows, facts=tuple(facts), poison=poison)


def _mark(rows: Sequence[ListedSignature], account: FollowedAccount) -> None:
    """Note that these are read. Raises Overtaken."""
    past_slot = account.listed_from_slot - followed_accounts.OVERLAP_SLOTS
    waiting = ListedSignature.objects.filter(pk__in=[row.pk for row in rows], read=False)
    # No later listing comes down to most of them.
    deleted, _ = waiting.filter(slot__lt=past_slot).delete()
    if deleted + waiting.update(read=True) != len(rows):
        raise Overtaken(f"{account}: somebody else reads it")


def _note_poison(part: _Part, *, chain_id: int) -> None:
    """Keep what could not be read where operators see it, and can have it tried again."""
    for row in part.rows:
        if reason := part.poison.get(row.signature):
            logger.error("chain=%s %s can't be read: %s", chain_id, row.signature, reason)
            IndexRequest.objects.get_or_create(
                chain_id=chain_id,
                tx_hash=row.signature,
                defaults={
                    "status": IndexRequest.Status.FAILED,
                    "attempts": 1,
                    "last_error": reason,
                    "due_at": timezone.now(),
                },
            )
