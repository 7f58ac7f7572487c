"""Listed transactions, read oldest first in concurrent requests, and written with their account's progress."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.db import transaction

from config.http.errors import RetryableError
from config.http.request_ids import RequestThreadPool
from config.postgresql.bulk_load import tune_bulk_transaction
from tokens.chains.errors import LogDecodingError, TransactionNotFoundError
from tokens.chains.pool_types import Swap, UndecodableLog, chain_position
from tokens.chains.solana.solana_chain import SolanaChain
from tokens.chains.types import TransactionFacts
from tokens.following.coverage import ProgressConflictError
from tokens.following.solana import followed_accounts
from tokens.indexing import chain_lock, writing
from tokens.installation.market_sources import has_own_trades
from tokens.models import FollowedAccount, IndexRequest, ListedSignature
from tokens.trades.trade_writing import store_trades

logger = logging.getLogger(__name__)

# The most requests whose transactions are read before anything is written.
_REQUESTS_AT_ONCE = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadCounts:
    """Counts of written transactions, their launches, and trades that were not stored before."""

    transactions: int
    launches: int
    trades: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _ReadBatch:
    """Contents of some transactions, and signature -> the reason why this version can't decode it."""

    rows: Sequence[ListedSignature]
    facts: tuple[TransactionFacts, ...]
    swaps: tuple[Swap, ...]
    poison: Mapping[str, str] = field(default_factory=dict)
    # Whether a requested transaction after these is missing.
    is_cut: bool = False


def read_listed(account: FollowedAccount, *, chain: SolanaChain) -> ReadCounts:
    """Read and write the oldest listed transactions, in one database transaction.

    A transaction that no node returns yet holds up those behind it, but none before it. One that can't be decoded is
    stored as a failed index request, and skipped. Raises RetryableError, ProgressConflictError.
    """
    rows = list(followed_accounts.unread_signatures(account)[: _REQUESTS_AT_ONCE * settings.RPC_BATCH_SIZE])
    batches = _read(rows, chain)
    facts = [transaction_facts for batch in batches for transaction_facts in batch.facts]
    swaps = sorted((swap for batch in batches for swap in batch.swaps), key=_position)
    read_rows = [row for batch in batches for row in batch.rows]
    trades = 0
    with transaction.atomic():
        tune_bulk_transaction()
        if facts or swaps:
            chain_lock.lock_exclusive(account.chain_id)
        followed_accounts.advance_account(account)
        _mark(read_rows, account)
        if facts:
            writing.leave_out_old_events(facts)
            writing.write_transactions(facts, chain=chain.info)
        if swaps:
            # Live in a first reading, too: it waits for nodes, not for sums, and so needs no step at its end.
            trades = store_trades(swaps, (), chain=chain.info, live=True).trades
        for batch in batches:
            IndexRequest.objects.add_undecodable(account.chain_id, _undecodable(batch))
    launches = sum(len(transaction_facts.launches) for transaction_facts in facts)
    return ReadCounts(transactions=len(read_rows), launches=launches, trades=trades)


def _read(rows: Sequence[ListedSignature], chain: SolanaChain) -> list[_ReadBatch]:
    """Return the transactions' contents, up to the first request that fails.

    Raises RetryableError if the first request fails.
    """
    size = settings.RPC_BATCH_SIZE
    requests = [rows[start : start + size] for start in range(0, len(rows), size)]
    batches: list[_ReadBatch] = []
    with RequestThreadPool(settings.FOLLOW_CONCURRENCY, thread_name_prefix="read-signatures") as pool:
        for future in [pool.submit(_read_batch, request, chain) for request in requests]:
            try:
                batch = future.result()
            except RetryableError:
                pool.shutdown(wait=False, cancel_futures=True)
                if not batches:
                    raise
                break
            batches.append(batch)
            if batch.is_cut:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    return batches


def _read_batch(rows: Sequence[ListedSignature], chain: SolanaChain) -> _ReadBatch:
    """Read one request's transactions, in a thread that may not use the database.

    Raises RetryableError if not even the oldest one can be read.
    """
    try:
        facts, swaps = _read_activity([row.signature for row in rows], chain)
    except (LogDecodingError, TransactionNotFoundError):
        return _read_singly(rows, chain)
    return _ReadBatch(rows=rows, facts=tuple(facts), swaps=tuple(swaps))


def _read_activity(
    signatures: Sequence[str], chain: SolanaChain
) -> tuple[Collection[TransactionFacts], Sequence[Swap]]:
    """Return launches and claims, and swaps where the chain has its own trades. Raises as `read_transactions`."""
    if not has_own_trades(chain.info.chain_id):
        return chain.read_transactions(signatures).values(), ()
    facts, swaps = chain.read_with_swaps(signatures)
    return facts.values(), swaps


def _read_singly(rows: Sequence[ListedSignature], chain: SolanaChain) -> _ReadBatch:
    """Return contents up to the first missing transaction. Raises RetryableError if the oldest one is missing."""
    facts: list[TransactionFacts] = []
    swaps: list[Swap] = []
    poison: dict[str, str] = {}
    for number, row in enumerate(rows):
        try:
            row_facts, row_swaps = _read_activity([row.signature], chain)
            facts += row_facts
            swaps += row_swaps
        except LogDecodingError as error:
            poison[row.signature] = str(error)
            facts += _read_launches(row, chain)
        except RetryableError:
            if not number:
                raise
            return _ReadBatch(rows=rows[:number], facts=tuple(facts), swaps=tuple(swaps), poison=poison, is_cut=True)
    return _ReadBatch(rows=rows, facts=tuple(facts), swaps=tuple(swaps), poison=poison)


def _read_launches(row: ListedSignature, chain: SolanaChain) -> Collection[TransactionFacts]:
    """Return the launches and claims beside a swap that can't be decoded; none if they can't be decoded either."""
    try:
        return chain.read_transactions([row.signature]).values()
    except LogDecodingError:
        return ()


def _position(swap: Swap) -> int:
    return chain_position(swap.block_number, swap.log_index)


def _mark(rows: Sequence[ListedSignature], account: FollowedAccount) -> None:
    """Mark rows as read. Raises ProgressConflictError."""
    past_slot = account.listed_from_slot - followed_accounts.OVERLAP_SLOTS
    waiting = ListedSignature.objects.filter(pk__in=[row.pk for row in rows], read=False)
    # Most are below later listings' range.
    deleted, _ = waiting.filter(slot__lt=past_slot).delete()
    if deleted + waiting.update(read=True) != len(rows):
        raise ProgressConflictError(f"{account}: another process reads it")


def _undecodable(batch: _ReadBatch) -> list[UndecodableLog]:
    """Return the undecodable transactions as logs, for failed index requests that operators see and can retry."""
    return [
        UndecodableLog(
            block_number=row.slot, tx_hash=row.signature, log_index=0, emitter="", launchpad="", reason=reason
        )
        for row in batch.rows
        if (reason := batch.poison.get(row.signature))
    ]
