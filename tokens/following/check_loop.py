"""What became final is checked until the turn ends, many blocks at a time: each check costs the nodes some calls."""

import time

from django.conf import settings

from config.http.json_client import Retryable
from tokens.following import chain_heads, coverage
from tokens.following.coverage import Overtaken
from tokens.following.leader_loops import Term
from tokens.following.verification import verify
from tokens.installation.installed_chains import installed_chain, installed_chain_otherwise
from tokens.models import Coverage

# What troubles call this loop.
CHECKS = "checks"

# So many blocks are checked at once, however soon they came.
MANY_BLOCKS = 100
# How often it is looked whether there is something to do, in seconds.
_LOOK_SECONDS = 0.5


def check_final(term: Term) -> None:
    """Check every block that is final and was followed, a while after it became so, until the turn ends."""
    checked_at = time.monotonic()
    while not term.ended.wait(_LOOK_SECONDS):
        final = chain_heads.read_final(term.chain_id)
        if final is None:
            continue
        # While the past is read, nodes and database have enough to do.
        rows = [row for row in coverage.live_rows(term.chain_id) if row.followed_to >= final]
        waiting = max((final - row.verified_to for row in rows), default=0)
        due = time.monotonic() - checked_at >= settings.FOLLOW_VERIFY_SECONDS
        # Below 0 where the first block to be read lies ahead.
        if waiting >= MANY_BLOCKS or (waiting > 0 and due):
            for row in rows:
                _check(row, term)
            checked_at = time.monotonic()


def _check(row: Coverage, term: Term) -> None:
    watch = term.watch(CHECKS)

    def target() -> int:
        final = chain_heads.read_final(row.chain_id)
        return -1 if final is None else final

    chain, otherwise = installed_chain(row.chain_id), installed_chain_otherwise(row.chain_id)
    try:
        for _ in verify(row, chain=chain, otherwise=otherwise, target=target, watch=watch):
            pass
    except (Overtaken, Coverage.DoesNotExist):
        # Blocks were taken back, or a row of more contracts has come as far and replaced this one.
        return
    except Retryable as error:
        term.ended.wait(watch.note(error))
    else:
        watch.clear()
