"""A chain's past, read until the turn ends: behind the head, for each row of progress in its turn."""

from config.http.json_client import Retryable
from tokens.following import chain_heads, coverage
from tokens.following.coverage import Overtaken
from tokens.following.history import join, read_history
from tokens.following.leader_loops import Term
from tokens.following.prefetch import Watch
from tokens.following.progress_display import Progress
from tokens.installation.installed_chains import installed_chain
from tokens.models import Coverage

# What troubles call this loop.
HISTORY = "history"

# How often it is looked whether there is something to do, in seconds.
_LOOK_SECONDS = 1.0


def follow_history(term: Term) -> None:
    """Read what lies below the window and join the head, again and again, until the turn ends."""
    chain = installed_chain(term.chain_id)
    while not term.ended.is_set():
        final = chain_heads.read_final(term.chain_id)
        if final is not None:
            for row in coverage.open_live(chain.info, final=final):
                _go_on(row, term)
        term.ended.wait(_LOOK_SECONDS)


def _go_on(row: Coverage, term: Term) -> None:
    """Bring one row as far as the chain is; what moves meanwhile is left to the next time."""
    watch = term.watch(HISTORY)
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
    chain = installed_chain(row.chain_id)

    def target() -> int:
        final = chain_heads.read_final(row.chain_id)
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
