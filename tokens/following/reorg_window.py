"""The reorg window: followed blocks that may still be dropped, and the newest final block below them."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from config.http.errors import RetryableError
from tokens.chains.types import BlockHeader
from tokens.models import FollowedBlock


class WindowChangedError(RetryableError):
    """The newest followed block is not the expected one: another follower, or an operator, moved the window."""


def read_newest_block(chain_id: int) -> FollowedBlock | None:
    """Return the newest followed block; None before following has begun."""
    return FollowedBlock.objects.filter(chain_id=chain_id).order_by("-number").first()


def read_blocks(chain_id: int, numbers: Iterable[int]) -> dict[int, FollowedBlock]:
    """Return number -> block, for numbers in the window."""
    blocks = FollowedBlock.objects.filter(chain_id=chain_id, number__in=list(numbers))
    return {block.number: block for block in blocks}


def check_newest(chain_id: int, expected: FollowedBlock) -> None:
    """Raise WindowChangedError unless this is still the newest block. Call it under the chain's lock."""
    newest = read_newest_block(chain_id)
    if newest is None or newest.hash != expected.hash:
        raise WindowChangedError(
            f"block {expected.number} of chain {chain_id} is no longer the newest that was followed"
        )


def append_blocks(chain_id: int, headers: Sequence[BlockHeader], *, depth: int) -> None:
    """Append blocks on top, and drop blocks that are final now, except the newest final one."""
    FollowedBlock.objects.bulk_create(block_row(chain_id, header) for header in headers)
    FollowedBlock.objects.filter(chain_id=chain_id, number__lt=headers[-1].number - depth).delete()


def reset_to(chain_id: int, header: BlockHeader) -> None:
    """Reset the window to one final block."""
    FollowedBlock.objects.filter(chain_id=chain_id).delete()
    block_row(chain_id, header).save()


def block_row(chain_id: int, header: BlockHeader) -> FollowedBlock:
    """Return a block's unsaved row."""
    return FollowedBlock(
        chain_id=chain_id,
        number=header.number,
        hash=header.hash,
        parent_hash=header.parent_hash,
        at=datetime.fromtimestamp(header.time, UTC),
    )


def block_header(block: FollowedBlock) -> BlockHeader:
    """Return a row's header. Its bloom filter is empty, because rows don't store it."""
    return BlockHeader(
        number=block.number,
        hash=block.hash,
        parent_hash=block.parent_hash,
        time=int(block.at.timestamp()),
        logs_bloom=0,
    )
