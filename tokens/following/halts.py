"""Halts of a chain that dropped final blocks, and the rewind by which an operator ends a halt."""

import logging
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Least
from django.utils import timezone

from config.http.errors import PermanentError
from tokens.chains.evm.evm_chain import Chain
from tokens.following import chain_heads, reorg_window
from tokens.following.coverage import covers_launches
from tokens.indexing import chain_lock, unwinding
from tokens.indexing.unwinding import UnwindCounts
from tokens.models import ChainHead, Coverage, FollowedBlock, Token

logger = logging.getLogger(__name__)

# The most stored blocks that are compared with the chain at once.
_COMPARED = 100


class ChainHaltedError(PermanentError):
    """Following has stopped until an operator rewinds the chain."""


class NotRewindableError(PermanentError):
    """The chain can't be rewound to this block."""


def halt_chain(chain_id: int, reason: str, *, last: FollowedBlock) -> ChainHaltedError:
    """Halt a chain unless the window has moved since. Return the error to raise. Raises WindowChangedError."""
    with transaction.atomic():
        chain_lock.lock_exclusive(chain_id)
        reorg_window.check_newest(chain_id, last)
        ChainHead.objects.filter(pk=chain_id).update(halted=reason, halted_at=timezone.now(), resumed_at=None)
    return ChainHaltedError(reason)


def halt_reason(chain_id: int) -> str:
    """Return why the chain is halted; empty if it is not."""
    return ChainHead.objects.filter(pk=chain_id).values_list("halted", flat=True).first() or ""


def alert_operator(chain_id: int, reason: str) -> None:
    """Log that only an operator can end the halt, and how."""
    logger.critical(
        "chain=%s is halted: %s. The service keeps what it has. Once the nodes are right, let the follower go on:"
        " manage.py rewind --chain %s --to BLOCK, the newest block that both have in common",
        chain_id,
        reason,
        chain_id,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class RewindResult:
    """Result of a rewind: the unwound rows, and the past blocks (first, last) that need another backfill.

    Rows up to block `kept_to` stay until verification has compared them with the chain.
    """

    unwound: UnwindCounts
    kept_to: int
    runs: tuple[tuple[int, int], ...]


def rewind_chain(chain: Chain, *, to: int) -> RewindResult:
    """End a halt, have all blocks above `to` read again, and unwind blocks that the chain no longer has.

    Rows of final blocks that the chain still has are evidence, because nodes may have pruned their logs since.
    Blocks until the current writers end. Raises NotRewindableError, NodeUnavailableError.
    """
    check_rewind(chain, to=to)
    chain_id, kept_to = chain.info.chain_id, _newest_shared_block(chain, to=to)
    with transaction.atomic():
        chain_lock.lock_exclusive(chain_id)
        runs = Coverage.objects.filter(chain_id=chain_id, last_block__isnull=False, followed_to__gt=to)
        undone = tuple((run.first_block, run.last_block or 0) for run in runs if covers_launches(run, chain.info))
        runs.set_back(to=to)
        unwound = unwinding.unwind_blocks(chain_id, above=to, kept_to=kept_to)
        newest = reorg_window.read_newest_block(chain_id)
        ChainHead.objects.filter(pk=chain_id).exclude(halted="").update(resumed_at=timezone.now())
        # Until a node reports the head, the historical sync must request no block that the chain may have dropped.
        ChainHead.objects.filter(pk=chain_id).update(
            halted="", followed=newest.number if newest else None, final=Least("final", Value(to))
        )
    return RewindResult(unwound=unwound, kept_to=kept_to, runs=undone)


def check_rewind(chain: Chain, *, to: int) -> None:
    """Raise NotRewindableError if the chain was not followed up to this block, or has other blocks up to it now.

    Below the window, only blocks with launches are stored; the newest ones are compared. Raises NodeUnavailableError.
    """
    chain_id = chain.info.chain_id
    head = ChainHead.objects.filter(pk=chain_id).first()
    if head is None or head.followed is None:
        raise NotRewindableError(f"chain {chain_id} was never followed")
    if not 0 <= to <= head.followed:
        raise NotRewindableError(f"chain {chain_id} was followed to block {head.followed}: no way back to block {to}")
    launched = Token.objects.on_chain().filter(chain_id=chain_id, block_number__lte=to).order_by("-block_number")
    ours = dict(launched.values_list("block_number", "block_hash")[:_COMPARED])
    ours |= {block.number: block.hash for block in reorg_window.read_blocks(chain_id, [to]).values()}
    theirs = chain.read_headers([*ours, to])
    if to not in theirs:
        raise NotRewindableError(f"chain {chain_id} has no block {to} now: choose a lower one")
    changed = [number for number, header in theirs.items() if ours.get(number, header.hash) != header.hash]
    if changed:
        raise NotRewindableError(f"chain {chain_id} has another block {min(changed)} now: choose a lower one")


def _newest_shared_block(chain: Chain, *, to: int) -> int:
    """Return the newest stored final block that the chain still has; `to` if there is none above it.

    Its parent hashes prove that the chain has all blocks below it, too. Raises NodeUnavailableError.
    """
    chain_id = chain.info.chain_id
    # The rewind lowers the stored final block, but not the head: a second rewind keeps the same rows.
    final = chain_heads.final_below(ChainHead.objects.values_list("head", flat=True).get(pk=chain_id), chain.info)
    blocks = FollowedBlock.objects.filter(chain_id=chain_id, number__gt=to, number__lte=final)
    hashes = dict(blocks.values_list("number", "hash"))
    launched = Token.objects.on_chain().filter(chain_id=chain_id, block_number__gt=to).order_by("-block_number")
    below = final + 1
    while True:
        headers = chain.read_headers(hashes) if hashes else {}
        shared = [number for number, header in headers.items() if header.hash == hashes[number]]
        if shared:
            return max(shared)
        hashes = dict(launched.filter(block_number__lt=below).values_list("block_number", "block_hash")[:_COMPARED])
        if not hashes:
            return to
        below = min(hashes)
