"""Unwinding: removal of rows whose block or transaction the chain does not have, or no longer has."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from django.db.models import Q
from django.utils import timezone

from tokens.indexing import event_rows
from tokens.models import Coverage, FollowedBlock, IndexRequest, IndexRequestStatus, StoredState, Token, TokenEvent
from tokens.trades import trade_writing

logger = logging.getLogger(__name__)


DROPPED_BY_REORG = "its block was dropped by a reorg"


@dataclass(frozen=True, kw_only=True, slots=True)
class UnwindCounts:
    """Counts: tokens hidden, events and trades deleted, requests reopened and followed blocks removed."""

    tokens: int = 0
    events: int = 0
    trades: int = 0
    requests: int = 0
    blocks: int = 0


def unwind_blocks(chain_id: int, *, above: int, kept_to: int = -1) -> UnwindCounts:
    """Unwind all rows in a chain's blocks above this number, with trades and coverage progress.

    Rows up to block `kept_to` stay, although their blocks are read again. The tokens leave all lists and keep their ids
    and tags: the same launch usually returns in another block. Token columns are folded again without the deleted
    events. Call it in a database transaction that holds the chain's lock exclusively (`chain_lock`).
    """
    rows_above = max(above, kept_to)
    held = Q(chain_id=chain_id, block_number__gt=rows_above)
    # Before their tokens are hidden.
    trades = trade_writing.unwind_trades(chain_id, above=rows_above)
    requests, (tokens, deleted) = _reopen(held), hide_and_delete(held)
    requests += drop_states(chain_id, held)
    blocks, _ = FollowedBlock.objects.filter(chain_id=chain_id, number__gt=above).delete()
    Coverage.objects.filter(chain_id=chain_id, last_block__isnull=True, followed_to__gt=above).set_back(to=above)
    return UnwindCounts(tokens=tokens, events=deleted, trades=trades, requests=requests, blocks=blocks)


def unwind_competing_blocks(chain_id: int, *, blocks: Mapping[int, str]) -> UnwindCounts:
    """Unwind rows in other blocks at the heights of canonical blocks; `blocks` is block number -> hash.

    A single transaction's indexing may have read them from a node on another fork, before these blocks were followed.
    Call it in a database transaction that holds the chain's lock exclusively (`chain_lock`).
    """
    held = Q(chain_id=chain_id, block_number__in=blocks) & ~Q(block_hash__in=blocks.values())
    # One query by the block indexes, because it runs for every new block. Confirmed requests have no such index.
    tokens = Token.objects.on_chain().filter(held).values_list("tx_hash")
    hashes = {tx_hash for (tx_hash,) in tokens.union(TokenEvent.objects.filter(held).values_list("tx_hash"))}
    unwound = unwind_transactions(chain_id, hashes) if hashes else UnwindCounts()
    return replace(unwound, requests=unwound.requests + drop_states(chain_id, held))


def unwind_transactions(chain_id: int, tx_hashes: Iterable[str], *, block_hash: str | None = None) -> UnwindCounts:
    """Unwind all rows whose transaction the chain does not have, or not in this block.

    `block_hash` limits it to one block's rows; None means any. Call it in a database transaction that holds the
    chain's lock (`chain_lock`).
    """
    held = Q(chain_id=chain_id, tx_hash__in=list(tx_hashes))
    if block_hash is not None:
        held &= Q(block_hash=block_hash)
    requests, (tokens, deleted) = _reopen(held), hide_and_delete(held)
    return UnwindCounts(tokens=tokens, events=deleted, requests=requests)


def hide_and_delete(held: Q) -> tuple[int, int]:
    """Hide the tokens and delete the events that match `held`. Return both numbers.

    Call it as `unwind_transactions`, with the transactions' requests locked before.
    """
    tokens = Token.objects.on_chain().filter(held).order_by("pk")
    token_ids = list(tokens.select_for_update(no_key=True).values_list("pk", flat=True))
    if token_ids:
        Token.objects.filter(pk__in=token_ids).hide()
    event_ids = list(TokenEvent.objects.filter(held).order_by("pk").values_list("pk", flat=True))
    event_rows.refresh_token_state(event_rows.delete_events(event_ids))
    return len(token_ids), len(event_ids)


def drop_states(chain_id: int, held: Q) -> int:
    """Delete the states that match `held`, and reopen the requests for the tokens' launches. Return how many.

    Their state is then read again; the tokens stay listed meanwhile. Call it as `unwind_blocks`.
    """
    dropped = dict(StoredState.objects.filter(held, chain_id=chain_id).values_list("token_id", "token__tx_hash"))
    if not dropped:
        return 0
    StoredState.objects.filter(token__in=dropped).delete()
    event_rows.refresh_token_state(dropped)
    return _reopen(Q(chain_id=chain_id, tx_hash__in=set(dropped.values())))


def _reopen(held: Q) -> int:
    """Reopen the requests for unwound transactions and states. Return how many."""
    written = IndexRequest.objects.filter(
        held, status__in=(IndexRequestStatus.INDEXED, IndexRequestStatus.CONFIRMED)
    ).order_by("pk")
    reopened = list(written.select_for_update())
    for request in reopened:
        logger.warning("chain %s dropped a block: %s is indexed again", request.chain_id, request.tx_hash)
    return IndexRequest.objects.filter(pk__in=[request.pk for request in reopened]).requeue(
        due_at=timezone.now(), status=IndexRequestStatus.PENDING, last_error=DROPPED_BY_REORG
    )
