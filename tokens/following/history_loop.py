"""A chain's past, read and checked until the turn ends: behind the head, for each row of progress in its turn."""

import time

from config.http import Retryable
from tokens.following import coverage, reorgs, window
from tokens.following.ahead import Watch
from tokens.following.coverage import Overtaken
from tokens.following.history import join, read_history
from tokens.following.progress import Progress
from tokens.following.term import Term
from tokens.following.verification import verify
from tokens.installed_chains import installed_chain, installed_chain_otherwise
from tokens.models import ChainHead, Coverage

# What troubles call this loop.
HISTORY = "history"

# How often it is looked whether there is something to do, in seconds.
_LOOK_SECONDS = 1.0
# The longest pause after trouble.
_LONGEST_PAUSE = 10.0
# How often all nodes are asked whether they have the head's newest block, in seconds.
_VOTE_SECONDS = 10.0


def follow_history(term: Term) -> None:
    """Read what lies below the window, join the head, check what is final; again and again, until the turn ends."""
    chain = installed_chain(term.chain_id)
    asked_at = time.monotonic()
    while not term.ended.is_set():
        final = _final(term.chain_id)
        if final is not None:
            for row in coverage.open_live(chain.info, final=final):
                _go_on(row, term)
        if time.monotonic() - asked_at >= _VOTE_SECONDS:
            asked_at = time.monotonic()
            have_voted(term)
        term.ended.wait(_LOOK_SECONDS)


def have_voted(term: Term) -> None:
    """Ask all nodes whether they have the head's newest block: it reads from one of them, which may be the wrong one.

    Here, because the head must not wait for a node that hangs.
    """
    newest = window.read_newest(term.chain_id)
    if newest is not None and reorgs.is_outvoted(installed_chain(term.chain_id), window.header_of(newest)):
        term.outvoted.set()


def _go_on(row: Coverage, term: Term) -> None:
    """Bring one row as far as the chain is; what moves meanwhile is left to the next time."""
    watch = Watch(
        stop=term.ended,
        note=lambda error: term.troubles.note(HISTORY, error, longest_pause=_LONGEST_PAUSE),
        clear=lambda: term.troubles.clear(HISTORY),
    )
    try:
        _read(row, watch)
    except Overtaken:
        # A reorganisation took back some of it. Whoever else leads the chain by now will be told by the lock.
        return
    except Retryable as error:
        term.ended.wait(watch.note(error))
    else:
        watch.clear()


def _read(row: Coverage, watch: Watch) -> None:
    chain, otherwise = installed_chain(row.chain_id), installed_chain_otherwise(row.chain_id)

    def target() -> int:
        final = _final(row.chain_id)
        return -1 if final is None else final

    before = row.followed_to
    progress = None
    for step in read_history(row, chain=chain, target=target, watch=watch):
        progress = progress or Progress(
            chain_id=row.chain_id,
            part="history",
            first=row.first_block,
            last=max(target(), step.to),
            done_before=before,
        )
        progress.note(step.to, launches=step.launches, transactions=step.transactions)
    if progress:
        progress.finish()
    join(row, chain=chain, stop=watch.stop)
    for _ in verify(row, chain=chain, otherwise=otherwise, target=target, watch=watch):
        pass


def _final(chain_id: int) -> int | None:
    """The newest final block; None before the head has begun, and while the chain is halted."""
    return ChainHead.objects.filter(pk=chain_id, halted="").values_list("final", flat=True).first()
