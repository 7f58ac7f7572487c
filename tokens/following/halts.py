"""A chain that dropped what was final is followed no further until an operator decides; and how the operator does."""

import logging
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest, Least

from config.http.json_client import Permanent
from tokens.chains.protocols import Chain
from tokens.following import reorg_window
from tokens.following.coverage import wants_launches
from tokens.indexing import chain_lock, unwinding
from tokens.indexing.unwinding import Unwound
from tokens.models import ChainHead, Coverage, FollowedBlock, Token

logger = logging.getLogger(__name__)


# So many of the newest launches are compared with the chain before it is taken back.
_COMPARED = 100


class Halted(Permanent):
    """Following stopped; only an operator lets it go on."""


class NotRewindable(Permanent):
    """The chain can't be taken back to this block."""


def halt(chain_id: int, reason: str, *, last: FollowedBlock) -> Halted:
    """Stop following, unless somebody has moved the window since; returns what to raise. Raises WindowMoved."""
    with transaction.atomic():
        chain_lock.own(chain_id)
        reorg_window.check_newest(chain_id, last)
        ChainHead.objects.filter(pk=chain_id).update(halted=reason)
    return Halted(reason)


def reason_of(chain_id: int) -> str:
    """Why following stopped; empty while it goes on."""
    return ChainHead.objects.filter(pk=chain_id).values_list("halted", flat=True).first() or ""


def call_operator(chain_id: int, reason: str) -> None:
    """Say in the log that only an operator can help, and how."""
    logger.critical(
        "chain=%s is halted: %s. The service keeps what it has. Once the nodes are right, let the follower go on:"
        " manage.py rewind --chain %s --to BLOCK, the newest block that both have in common",
        chain_id,
        reason,
        chain_id,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Rewound:
    """What was taken back, and the runs of past blocks, by their first and last, that nobody reads again by himself."""

    unwound: Unwound
    runs: tuple[tuple[int, int], ...]


def rewind(chain: Chain, *, to: int) -> Rewound:
    """Take back everything of blocks above `to`, let following go on from there, and end a halt.

    Waits for writers of the moment. Raises NotRewindable, NodeUnavailable.
    """
    check_rewind(chain, to=to)
    chain_id = chain.info.chain_id
    with transaction.atomic():
        chain_lock.own(chain_id)
        runs = Coverage.objects.filter(chain_id=chain_id, last_block__isnull=False, followed_to__gt=to)
        undone = tuple((run.first_block, run.last_block or 0) for run in runs if wants_launches(run, chain.info))
        reached = Greatest(F("first_block") - 1, to)
        runs.update(followed_to=reached, verified_to=Least(F("verified_to"), reached))
        unwound = unwinding.unwind_blocks(chain_id, above=to)
        newest = reorg_window.read_newest(chain_id)
        # Until a node tells of the head, history asks for nothing that the chain may no longer have.
        ChainHead.objects.filter(pk=chain_id).update(
            halted="", followed=newest.number if newest else None, final=Least("final", Value(to))
        )
    return Rewound(unwound=unwound, runs=undone)


def check_rewind(chain: Chain, *, to: int) -> None:
    """Raise NotRewindable where the chain was not followed up to this block, or has other ones up to it by now.

    Below the window, only blocks that held tokens are known: the newest of these are compared. Raises NodeUnavailable.
    """
    chain_id = chain.info.chain_id
    head = ChainHead.objects.filter(pk=chain_id).first()
    if head is None or head.followed is None:
        raise NotRewindable(f"chain {chain_id} was never followed")
    if not 0 <= to <= head.followed:
        raise NotRewindable(f"chain {chain_id} was followed to block {head.followed}: no way back to block {to}")
    launched = Token.objects.on_chain().filter(chain_id=chain_id, block_number__lte=to).order_by("-block_number")
    ours = dict(launched.values_list("block_number", "block_hash")[:_COMPARED])
    ours |= {block.number: block.hash for block in reorg_window.read_blocks(chain_id, [to]).values()}
    theirs = chain.read_headers([*ours, to])
    if to not in theirs:
        raise NotRewindable(f"chain {chain_id} has no block {to} now: choose a lower one")
    changed = [number for number, header in theirs.items() if ours.get(number, header.hash) != header.hash]
    if changed:
        raise NotRewindable(f"chain {chain_id} has another block {min(changed)} now: choose a lower one")
