"""A chain's head row: its newest and final block, and the newest followed one."""

import os
import socket
from collections.abc import Iterator
from datetime import UTC, datetime

from django.utils import timezone

from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import BlockHeader
from tokens.models import ChainHead


def final_below(number: int, info: ChainInfo) -> int:
    """Return the newest final block while block `number` is the newest; at least the first block."""
    return max(number - info.finality_depth, 0)


def store_head(info: ChainInfo, *, newest: BlockHeader, followed: int) -> None:
    """Store the newest block that nodes reported, and the newest one that is written."""
    columns = {
        "head": newest.number,
        "final": final_below(newest.number, info),
        "followed": followed,
        "head_at": datetime.fromtimestamp(newest.time, UTC),
        "seen_at": timezone.now(),
        "follower": follower_name(),
    }
    # The row nearly always exists, so that one statement is enough.
    if not ChainHead.objects.filter(pk=info.chain_id).update(**columns):
        ChainHead.objects.create(chain_id=info.chain_id, **columns)


def touch_head(chain_id: int) -> None:
    """Store that the newest block is unchanged."""
    ChainHead.objects.filter(chain_id=chain_id).update(seen_at=timezone.now(), follower=follower_name())


def forget_followers() -> Iterator[str]:
    """Clear the followers and failures in restored rows: they name processes that ran during the backup."""
    ChainHead.objects.update(follower="", error="")
    for chain_id, followed in ChainHead.objects.order_by("chain_id").values_list("chain_id", "followed"):
        yield f"Chain {chain_id} goes on from block {followed}: start manage.py follow."


def follower_name() -> str:
    """Return this process's name: host name and process id."""
    return f"{socket.gethostname()}:{os.getpid()}"[:200]


def read_final_block(chain_id: int) -> int | None:
    """Return the newest final block; None before following has begun, and while the chain is halted."""
    return ChainHead.objects.filter(pk=chain_id, halted="").values_list("final", flat=True).first()
