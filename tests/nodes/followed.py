"""Step-by-step head watcher for a chain in tests, and the rows that it has written."""

from dataclasses import dataclass, field

from tokens.chains.types import BlockHeader
from tokens.following.head import Head
from tokens.installation.installed_chains import installed_chain, installed_chain_second_node_first
from tokens.models import ChainHead, FollowedBlock, Token


@dataclass
class Followed:
    """A chain's head watcher."""

    chain_id: int
    # The seconds for which a branch is not followed that is no longer than the current one.
    unconfirmed_timeout: float = 0.0
    head: Head = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Continue as a new process does."""
        self.head = Head(
            chain=installed_chain(self.chain_id),
            alternate=installed_chain_second_node_first(self.chain_id),
            unconfirmed_timeout=self.unconfirmed_timeout,
        )

    def newest(self) -> BlockHeader:
        return self.head.chain.read_newest_header()

    def catch_up(self) -> int:
        """Advance to the newest block and return the step count."""
        newest, steps = self.newest(), 1
        while self.head.advance(newest):
            steps += 1
        return steps

    def window(self) -> dict[int, str]:
        """Return number -> hash for the blocks in the reorg window."""
        blocks = FollowedBlock.objects.filter(chain_id=self.chain_id).order_by("number")
        return dict(blocks.values_list("number", "hash"))

    def row(self) -> ChainHead:
        return ChainHead.objects.get(pk=self.chain_id)


def listed() -> dict[str, int]:
    """Return transaction hash -> id for the listed tokens."""
    return dict(Token.objects.listed().values_list("tx_hash", "pk"))
