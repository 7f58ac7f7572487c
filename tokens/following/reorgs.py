"""Reorg detection: the branch that replaces followed blocks, and whether enough nodes have it.

The head reads from one node, which may be on the wrong branch, or have stopped at a block without an error. So a
separate loop compares the newest followed block with all nodes; the head must not wait for a node that hangs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connections

from config.http.request_ids import begin_request
from tokens.chains.errors import BlockNotCanonicalError
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.types import BlockHeader
from tokens.following import reorg_window
from tokens.following.leader_loops import LeaderSession
from tokens.installation.installed_chains import installed_chain
from tokens.models import FollowedBlock

# The most blocks that are compared at once, and the most blocks of a new branch that are read at once.
MAX_COMPARED_BLOCKS = 256
PIECE_BLOCKS = 32
# The name of the voting loop among the failures.
VOTES = "votes"

_VOTE_INTERVAL_SECONDS = 10.0


class ReorgTooDeepError(Exception):
    """The chain has another block at a final height; `ours` and `theirs` are the two."""

    def __init__(self, ours: FollowedBlock, theirs: BlockHeader) -> None:
        super().__init__(
            f"a reorganisation below the final block {ours.number}: it was {ours.hash}, and is {theirs.hash} now"
        )
        self.ours = ours
        self.theirs = theirs


@dataclass(frozen=True, kw_only=True)
class Branch:
    """A competing branch on top of a followed block; it has at least one block."""

    ancestor: FollowedBlock
    # The lowest followed block that would be dropped.
    dropped: FollowedBlock
    # In chain order; for a long branch, only the first ones.
    headers: tuple[BlockHeader, ...]


def find_branch(chain: Chain, *, last: FollowedBlock, newest: BlockHeader) -> Branch | None:
    """Return the node's branch that competes with our newest blocks; None if the node has no competing block.

    Searches back in steps that double. Raises ReorgTooDeepError, BlockNotCanonicalError if the node's responses are
    inconsistent, and NodeUnavailableError.
    """
    chain_id = chain.info.chain_id
    theirs: dict[int, BlockHeader] = {}
    high, step = min(last.number, newest.number), 1
    ours: FollowedBlock | None = None
    while blocks := reorg_window.read_blocks(chain_id, range(high - step + 1, high + 1)):
        theirs |= chain.read_headers(sorted(blocks))
        for number in sorted(blocks, reverse=True):
            below, ours = ours, blocks[number]
            if number in theirs and theirs[number].hash == ours.hash:
                return _branch(chain, ancestor=ours, dropped=below, theirs=theirs, newest=newest)
        high, step = high - step, min(2 * step, MAX_COMPARED_BLOCKS)
    if ours is None or ours.number not in theirs:
        raise BlockNotCanonicalError(
            f"chain {chain_id}: its node lacks the blocks that were followed; "
            "where the chain itself was set back for good, `manage.py rewind` lets it be followed again"
        )
    raise ReorgTooDeepError(ours, theirs[ours.number])


def has_node_majority(chain: Chain, *, ours: BlockHeader, theirs: BlockHeader) -> bool:
    """Return whether more nodes have `theirs` than have `ours`. A tie goes to the first configured node.

    Raises NodeUnavailableError.
    """
    with_theirs, without = chain.count_nodes_with(theirs)
    if with_theirs > without:
        # Nodes that have ours are counted in `without`.
        return True
    with_ours, _ = chain.count_nodes_with(ours)
    if with_theirs != with_ours:
        return with_theirs > with_ours
    preferred = chain.read_headers([theirs.number]).get(theirs.number)
    return preferred is not None and preferred.hash == theirs.hash


def is_outvoted(chain: Chain, block: BlockHeader) -> bool:
    """Return whether more nodes have another block at this height than have this one."""
    having, differing = chain.count_nodes_with(block)
    return differing > having


def linked_headers(headers: Sequence[BlockHeader], *, to: FollowedBlock) -> tuple[BlockHeader, ...]:
    """Return the headers up to the first one that does not build on the one before; the first must build on `to`."""
    parent, linked = to.hash, list[BlockHeader]()
    for header in headers:
        if header.parent_hash != parent:
            break
        parent = header.hash
        linked.append(header)
    return tuple(linked)


def consecutive_headers(headers: dict[int, BlockHeader], *, first: int) -> list[BlockHeader]:
    """Return the headers from number `first` up to the first gap."""
    consecutive = []
    while first in headers:
        consecutive.append(headers[first])
        first += 1
    return consecutive


def _branch(
    chain: Chain,
    *,
    ancestor: FollowedBlock,
    dropped: FollowedBlock | None,
    theirs: dict[int, BlockHeader],
    newest: BlockHeader,
) -> Branch | None:
    if dropped is None or dropped.number not in theirs:
        # No followed block has a competing one: the node lags, or another node reported the newest block.
        return None
    end = min(newest.number, ancestor.number + PIECE_BLOCKS)
    missing = [number for number in range(ancestor.number + 1, end + 1) if number not in theirs]
    theirs = theirs | (chain.read_headers(missing) if missing else {})
    headers = linked_headers(consecutive_headers(theirs, first=ancestor.number + 1)[:PIECE_BLOCKS], to=ancestor)
    if not headers:
        raise BlockNotCanonicalError(
            f"chain {chain.info.chain_id}: what follows block {ancestor.number} doesn't build on it"
        )
    return Branch(ancestor=ancestor, dropped=dropped, headers=headers)


def poll_votes(session: LeaderSession) -> None:
    """Signal the head, until the session ends, when most nodes have another newest block or one stays ahead."""
    behind = None
    while not session.ended.wait(_VOTE_INTERVAL_SECONDS):
        begin_request()
        behind = check_votes(session, behind=behind)
        # Closed between two rounds: database connections are few, and this loop needs one only for a moment.
        connections.close_all()


def check_votes(session: LeaderSession, *, behind: str | None = None) -> str | None:
    """Query all nodes once, and signal the head if most have another newest block than the followed one.

    Return the followed block's hash if a node is ahead of it, else None. Pass the result as `behind` to the next call:
    that call signals the head if the head has not moved since.
    """
    newest = reorg_window.read_newest_block(session.chain_id)
    if newest is None:
        return None
    chain = installed_chain(session.chain_id)
    highest = chain.read_highest_head()
    is_behind = highest is not None and highest > newest.number
    if (is_behind and newest.hash == behind) or is_outvoted(chain, reorg_window.block_header(newest)):
        session.outvoted.set()
    return newest.hash if is_behind else None
