"""All nodes are asked now and then whether they have the head's newest block, until the turn ends.

The head reads from one of them, which may be the wrong one, and must not wait for another that hangs.
"""

from tokens.following import reorgs, window
from tokens.following.term import Term
from tokens.installed_chains import installed_chain

# What troubles call this loop.
VOTES = "votes"

_EVERY_SECONDS = 10.0


def take_votes(term: Term) -> None:
    """Tell the head whenever most nodes have another newest block, until the turn ends."""
    while not term.ended.wait(_EVERY_SECONDS):
        have_voted(term)


def have_voted(term: Term) -> None:
    """Ask all nodes once, and tell the head where most have another newest block than the one that is followed."""
    newest = window.read_newest(term.chain_id)
    if newest is not None and reorgs.is_outvoted(installed_chain(term.chain_id), window.header_of(newest)):
        term.outvoted.set()
