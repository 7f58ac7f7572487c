"""Where the chain has left the blocks that were followed, and whether enough nodes say so."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connections

from tokens.chains.protocols import Chain
from tokens.chains.types import BlockGone, BlockHeader
from tokens.following import reorg_window
from tokens.following.leader_loops import Term
from tokens.installation.installed_chains import installed_chain
from tokens.models import FollowedBlock

# How many blocks are compared at a time at the most, and how many of a new branch are read at once.
LONGEST_LOOK = 256
PIECE_BLOCKS = 32


class TooDeep(Exception):
    """The chain has another block where ours is final; `ours` and `theirs` are the two."""

    def __init__(self, ours: FollowedBlock, theirs: BlockHeader) -> None:
        super().__init__(
            f"a reorganisation below the final block {ours.number}: it was {ours.hash}, and is {theirs.hash} now"
        )
        self.ours = ours
        self.theirs = theirs


@dataclass(frozen=True, kw_only=True)
class Branch:
    """Blocks on top of one of ours, in the place of those that we have there. There is at least one of them."""

    ancestor: FollowedBlock
    # The lowest of our blocks that would be dropped.
    dropped: FollowedBlock
    # In order, each the parent of the next; the first ones of the branch where it is long.
    headers: tuple[BlockHeader, ...]


def find_branch(chain: Chain, *, last: FollowedBlock, newest: BlockHeader) -> Branch | None:
    """The branch that a node has in the place of our newest blocks; None where what it has of them is ours.

    Looks back in steps that double. Raises TooDeep, BlockGone where the node's answers don't fit together, and
    NodeUnavailable.
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
        high, step = high - step, min(2 * step, LONGEST_LOOK)
    if ours is None or ours.number not in theirs:
        raise BlockGone(
            f"chain {chain_id}: its node lacks the blocks that were followed; "
            "where the chain itself was set back for good, `manage.py rewind` lets it be followed again"
        )
    raise TooDeep(ours, theirs[ours.number])


def has_more_nodes(chain: Chain, *, ours: BlockHeader, theirs: BlockHeader) -> bool:
    """Whether as many nodes have their block as have ours, or more; of a tie the node that is first in the setting.

    Raises NodeUnavailable.
    """
    with_theirs, without = chain.count_nodes_with(theirs)
    if with_theirs > without:
        # Whoever has ours is among those without.
        return True
    with_ours, _ = chain.count_nodes_with(ours)
    if with_theirs != with_ours:
        return with_theirs > with_ours
    preferred = chain.read_headers([theirs.number]).get(theirs.number)
    return preferred is not None and preferred.hash == theirs.hash


def is_outvoted(chain: Chain, block: BlockHeader) -> bool:
    """Whether more nodes have another block in the place of this one than have it."""
    having, differing = chain.count_nodes_with(block)
    return differing > having


def linked(headers: Sequence[BlockHeader], *, to: FollowedBlock) -> tuple[BlockHeader, ...]:
    """The headers as far as each one's parent is the one before; the first one's, the block given."""
    parent, found = to.hash, list[BlockHeader]()
    for header in headers:
        if header.parent_hash != parent:
            break
        parent = header.hash
        found.append(header)
    return tuple(found)


def run_of(headers: dict[int, BlockHeader], *, first: int) -> list[BlockHeader]:
    """The headers from the first number on, up to the first that is lacking."""
    found = []
    while first in headers:
        found.append(headers[first])
        first += 1
    return found


def _branch(
    chain: Chain,
    *,
    ancestor: FollowedBlock,
    dropped: FollowedBlock | None,
    theirs: dict[int, BlockHeader],
    newest: BlockHeader,
) -> Branch | None:
    if dropped is None or dropped.number not in theirs:
        # Nothing of ours has another block in its place: the node lags, or another one told of the newest.
        return None
    end = min(newest.number, ancestor.number + PIECE_BLOCKS)
    wanted = [number for number in range(ancestor.number + 1, end + 1) if number not in theirs]
    theirs = theirs | (chain.read_headers(wanted) if wanted else {})
    headers = linked(run_of(theirs, first=ancestor.number + 1)[:PIECE_BLOCKS], to=ancestor)
    if not headers:
        raise BlockGone(f"chain {chain.info.chain_id}: what follows block {ancestor.number} doesn't build on it")
    return Branch(ancestor=ancestor, dropped=dropped, headers=headers)


# All nodes are asked now and then whether they have the head's newest block, and newer ones, until the turn ends.
#
# The head reads from one of them, which may be the wrong one, or have stopped and answer all the same; and it must not
# wait for another that hangs.
# What troubles call this loop.
VOTES = "votes"

_EVERY_SECONDS = 10.0


def take_votes(term: Term) -> None:
    """Tell the head whenever most nodes have another newest block, or it stays behind one, until the turn ends."""
    behind = None
    while not term.ended.wait(_EVERY_SECONDS):
        behind = have_voted(term, behind=behind)
        # Not kept for the next time: a database has few connections, and this loop needs one for a moment.
        connections.close_all()


def have_voted(term: Term, *, behind: str | None = None) -> str | None:
    """Ask all nodes once, and tell the head where most have another newest block than the one that is followed.

    Returns the hash of that one where a node is further, to be given as `behind` the next time: the head is told, too,
    where it is still there.
    """
    newest = reorg_window.read_newest(term.chain_id)
    if newest is None:
        return None
    chain = installed_chain(term.chain_id)
    highest = chain.read_highest()
    is_behind = highest is not None and highest > newest.number
    if (is_behind and newest.hash == behind) or is_outvoted(chain, reorg_window.header_of(newest)):
        term.outvoted.set()
    return newest.hash if is_behind else None
