"""Following a chain step by step in tests: one head, moved when the test says so, and what it has written."""

from dataclasses import dataclass, field

from tokens.chains.types import BlockHeader
from tokens.following.head import Head
from tokens.installation.installed_chains import installed_chain, installed_chain_otherwise
from tokens.models import ChainHead, FollowedBlock, Token


@dataclass
class Followed:
    """The head of a chain."""

    chain_id: int
    # For how many seconds a branch is not taken that is no longer than ours.
    patience: float = 0.0
    head: Head = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Go on as a new process does."""
        self.head = Head(
            chain=installed_chain(self.chain_id),
            otherwise=installed_chain_otherwise(self.chain_id),
            patience=self.patience,
        )

    def newest(self) -> BlockHeader:
        return self.head.chain.read_newest()

    def catch_up(self) -> int:
        """Go to the newest block; returns how many steps that took."""
        newest, steps = self.newest(), 1
        while self.head.advance(newest):
            steps += 1
        return steps

    def window(self) -> dict[int, str]:
        """Number -> hash of the blocks that are kept."""
        blocks = FollowedBlock.objects.filter(chain_id=self.chain_id).order_by("number")
        return dict(blocks.values_list("number", "hash"))

    def row(self) -> ChainHead:
        return ChainHead.objects.get(pk=self.chain_id)


def listed() -> dict[str, int]:
    """Transaction hash -> id of the tokens that lists show."""
    return dict(Token.objects.listed().values_list("tx_hash", "pk"))
