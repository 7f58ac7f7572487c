"""The row that says where a chain is, and how far it was followed."""

import os
import socket
from datetime import UTC, datetime

from django.utils import timezone

from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import BlockHeader
from tokens.following.solana.followed_accounts import Followed
from tokens.models import ChainHead


def final_below(number: int, info: ChainInfo) -> int:
    """The newest block that is final while the block of this number is the newest; the first one always is."""
    return max(number - info.finality_depth, 0)


def store(info: ChainInfo, *, newest: BlockHeader, followed: int) -> None:
    """Note the newest block that nodes told of, and the newest one that is written."""
    columns = {
        "head": newest.number,
        "final": final_below(newest.number, info),
        "followed": followed,
        "head_at": datetime.fromtimestamp(newest.time, UTC),
        "seen_at": timezone.now(),
        "follower": follower_name(),
    }
    # Nearly always the row is there, and one statement is enough.
    if not ChainHead.objects.filter(pk=info.chain_id).update(**columns):
        ChainHead.objects.create(chain_id=info.chain_id, **columns)


def store_slots(info: ChainInfo, *, head: int, followed: Followed | None) -> None:
    """Note the newest finalised slot, and how far the chain's accounts are read.

    A slot's own time would take a call more, and is a few seconds before the one at which it was told.
    """
    now = timezone.now()
    columns = {
        "head": head,
        "final": head,
        "followed": followed and followed.slot,
        "followed_at": followed and followed.at,
        "head_at": now,
        "seen_at": now,
        "follower": follower_name(),
    }
    ChainHead.objects.update_or_create(pk=info.chain_id, defaults=columns)


def touch(chain_id: int) -> None:
    """Note that the newest block is still the one that is known."""
    ChainHead.objects.filter(chain_id=chain_id).update(seen_at=timezone.now(), follower=follower_name())


def follower_name() -> str:
    """Which process this is: host name and process id."""
    return f"{socket.gethostname()}:{os.getpid()}"[:200]


def read_final(chain_id: int) -> int | None:
    """The newest final block; None before the head has begun, and while the chain is halted."""
    return ChainHead.objects.filter(pk=chain_id, halted="").values_list("final", flat=True).first()
