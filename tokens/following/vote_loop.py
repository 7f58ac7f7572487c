"""All nodes are asked now and then whether they have the head's newest block, and newer ones, until the turn ends.

The head reads from one of them, which may be the wrong one, or have stopped and answer all the same; and it must not
wait for another that hangs.
"""

from django.db import connections

from tokens.following import reorg_window, reorgs
from tokens.following.leader_loops import Term
from tokens.installation.installed_chains import installed_chain

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
    if (is_behind and newest.hash == behind) or reorgs.is_outvoted(chain, reorg_window.header_of(newest)):
        term.outvoted.set()
    return newest.hash if is_behind else None
