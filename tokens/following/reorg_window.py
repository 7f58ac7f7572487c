"""The follower's own chain of blocks: those that may still be dropped, and the newest final one below them."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from config.http.json_client import Retryable
from tokens.chains.types import BlockHeader
from tokens.models import FollowedBlock


class WindowMoved(Retryable):
    """The newest block that was followed is another than we think: another follower, or an operator, moved it."""


def read_newest(chain_id: int) -> FollowedBlock | None:
    """The newest block that was followed; None where following has not begun."""
    return FollowedBlock.objects.filter(chain_id=chain_id).order_by("-number").first()


def read_blocks(chain_id: int, numbers: Iterable[int]) -> dict[int, FollowedBlock]:
    """Number -> block, without those that the window doesn't have."""
    found = FollowedBlock.objects.filter(chain_id=chain_id, number__in=list(numbers))
    return {block.number: block for block in found}


def check_newest(chain_id: int, expected: FollowedBlock) -> None:
    """Raise WindowMoved unless this is still the newest block. To be called under the chain's lock."""
    newest = read_newest(chain_id)
    if newest is None or newest.hash != expected.hash:
        raise WindowMoved(f"block {expected.number} of chain {chain_id} is no more the newest that was followed")


def append(chain_id: int, headers: Sequence[BlockHeader], *, depth: int) -> None:
    """Add blocks on top, and drop those that are final by now, but for the newest of them."""
    FollowedBlock.objects.bulk_create(row(chain_id, header) for header in headers)
    FollowedBlock.objects.filter(chain_id=chain_id, number__lt=headers[-1].number - depth).delete()


def begin_at(chain_id: int, header: BlockHeader) -> None:
    """Let the window consist of one final block alone, on which it will grow."""
    FollowedBlock.objects.filter(chain_id=chain_id).delete()
    row(chain_id, header).save()


def row(chain_id: int, header: BlockHeader) -> FollowedBlock:
    """A block's row, not yet saved."""
    return FollowedBlock(
        chain_id=chain_id,
        number=header.number,
        hash=header.hash,
        parent_hash=header.parent_hash,
        at=datetime.fromtimestamp(header.time, UTC),
    )


def header_of(block: FollowedBlock) -> BlockHeader:
    """The header as far as the row tells it; the filter over logs is not kept."""
    return BlockHeader(
        number=block.number,
        hash=block.hash,
        parent_hash=block.parent_hash,
        time=int(block.at.timestamp()),
        logs_bloom=0,
    )
