"""The way back: what blocks held that the chain does not have, or no longer."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import F, Q
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from tokens.indexing import event_rows as events
from tokens.models import Coverage, FollowedBlock, IndexRequest, Token, TokenEvent

logger = logging.getLogger(__name__)

Status = IndexRequest.Status

DROPPED = "its block was dropped by a reorg"


@dataclass(frozen=True, kw_only=True, slots=True)
class Unwound:
    """How many tokens were hidden, events deleted, requests put back to pending, and followed blocks forgotten."""

    tokens: int = 0
    events: int = 0
    requests: int = 0
    blocks: int = 0


def unwind_blocks(chain_id: int, *, above: int) -> Unwound:
    """Take back everything of a chain's blocks above this number, and that they were read.

    The tokens leave all lists and keep their ids and tags: the same launch usually comes back in another block. What
    events had changed is folded back. To be called in a database transaction that owns the chain (`chain_lock`).
    """
    held = Q(chain_id=chain_id, block_number__gt=above)
    requests, (tokens, deleted) = _reopen(held), take_back(held)
    blocks, _ = FollowedBlock.objects.filter(chain_id=chain_id, number__gt=above).delete()
    reached = Greatest(F("first_block") - 1, above)
    Coverage.objects.filter(chain_id=chain_id, last_block__isnull=True, followed_to__gt=above).update(
        followed_to=Least(F("followed_to"), reached),
        verified_to=Least(F("verified_to"), reached),
        updated_at=timezone.now(),
    )
    return Unwound(tokens=tokens, events=deleted, requests=requests, blocks=blocks)


def unwind_rivals(chain_id: int, *, blocks: Mapping[int, str]) -> Unwound:
    """Take back what other blocks held at the heights of these, block number -> hash, which are the chain's.

    Whoever indexes single transactions may have read them of a node on another fork, before these blocks were followed.
    To be called in a database transaction that owns the chain (`chain_lock`).
    """
    held = Q(chain_id=chain_id, block_number__in=blocks) & ~Q(block_hash__in=blocks.values())
    # One look by the indexes of blocks, because every new block is looked at. Confirmed requests have no such index.
    tokens = Token.objects.on_chain().filter(held).values_list("tx_hash")
    hashes = {tx_hash for (tx_hash,) in tokens.union(TokenEvent.objects.filter(held).values_list("tx_hash"))}
    return unwind_transactions(chain_id, hashes) if hashes else Unwound()


def unwind_transactions(chain_id: int, tx_hashes: Iterable[str], *, block_hash: str | None = None) -> Unwound:
    """Take back everything of these transactions, which the chain does not have, or not where we have it.

    `block_hash` is that of the block in which it does not have them; None is any. To be called in a database
    transaction that shares or owns the chain (`chain_lock`).
    """
    held = Q(chain_id=chain_id, tx_hash__in=list(tx_hashes))
    if block_hash is not None:
        held &= Q(block_hash=block_hash)
    requests, (tokens, deleted) = _reopen(held), take_back(held)
    return Unwound(tokens=tokens, events=deleted, requests=requests)


def take_back(held: Q) -> tuple[int, int]:
    """Hide the tokens and delete the events that `held` finds; how many there were of either.

    To be called as `unwind_transactions`; whatever request there is is to be locked before.
    """
    tokens = Token.objects.on_chain().filter(held).order_by("pk")
    doomed = list(tokens.select_for_update(no_key=True).values_list("pk", flat=True))
    if doomed:
        Token.objects.filter(pk__in=doomed).update(unindexed=True)
    event_ids = list(TokenEvent.objects.filter(held).order_by("pk").values_list("pk", flat=True))
    events.bring_up_to_date(events.delete(event_ids))
    return len(doomed), len(event_ids)


def _reopen(held: Q) -> int:
    """Look again for the transactions whose launches and events are taken back; how many there are."""
    written = IndexRequest.objects.filter(held, status__in=(Status.INDEXED, Status.CONFIRMED)).order_by("pk")
    reopened = list(written.select_for_update())
    for request in reopened:
        logger.warning("chain %s dropped block %s of %s", request.chain_id, request.block_hash, request.tx_hash)
    return IndexRequest.objects.filter(pk__in=[request.pk for request in reopened]).move(
        status=Status.PENDING, attempts=0, unfinished=0, due_at=timezone.now(), last_error=DROPPED
    )
