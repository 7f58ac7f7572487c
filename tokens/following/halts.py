"""A chain that dropped what was final is followed no further until an operator decides; and how the operator does."""

import logging

from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Least

from config.http import Permanent
from tokens import chain_lock, unwinding
from tokens.chains.chain import Chain
from tokens.following import window
from tokens.models import ChainHead, FollowedBlock
from tokens.unwinding import Unwound

logger = logging.getLogger(__name__)


class Halted(Permanent):
    """Following stopped; only an operator lets it go on."""


class NotRewindable(Permanent):
    """The chain can't be taken back to this block."""


def halt(chain_id: int, reason: str, *, last: FollowedBlock) -> Halted:
    """Stop following, unless somebody has moved the window since; returns what to raise. Raises WindowMoved."""
    with transaction.atomic():
        chain_lock.own(chain_id)
        window.check_newest(chain_id, last)
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


def rewind(chain: Chain, *, to: int) -> Unwound:
    """Take back everything of blocks above `to`, let following go on from there, and end a halt; returns what it was.

    Waits for writers of the moment. Raises NotRewindable, NodeUnavailable.
    """
    check_rewind(chain, to=to)
    chain_id = chain.info.chain_id
    with transaction.atomic():
        chain_lock.own(chain_id)
        unwound = unwinding.unwind_blocks(chain_id, above=to)
        newest = window.read_newest(chain_id)
        # Until a node tells of the head, history asks for nothing that the chain may no longer have.
        ChainHead.objects.filter(pk=chain_id).update(
            halted="", followed=newest.number if newest else None, final=Least("final", Value(to))
        )
    return unwound


def check_rewind(chain: Chain, *, to: int) -> None:
    """Raise NotRewindable where the chain was not followed up to this block, or has another one in its place by now."""
    chain_id = chain.info.chain_id
    head = ChainHead.objects.filter(pk=chain_id).first()
    if head is None or head.followed is None:
        raise NotRewindable(f"chain {chain_id} was never followed")
    if not 0 <= to <= head.followed:
        raise NotRewindable(f"chain {chain_id} was followed to block {head.followed}: no way back to block {to}")
    ours = window.read_blocks(chain_id, [to]).get(to)
    theirs = chain.read_headers([to]).get(to)
    if theirs is None:
        raise NotRewindable(f"chain {chain_id} has no block {to} now: choose a lower one")
    if ours is not None and ours.hash != theirs.hash:
        raise NotRewindable(f"chain {chain_id} has another block {to} now: choose a lower one")
