"""The process that follows chains: for each one a turn at leading it, with a thread for each of its loops."""

import logging
import time
from collections.abc import Iterable, Sequence
from threading import Event, Thread

from config.postgresql.advisory_locks import Leadership
from tokens.following.check_loop import CHECKS, check_final
from tokens.following.head import HEAD, follow_head
from tokens.following.history import HISTORY, follow_history
from tokens.following.leader_loops import Term
from tokens.following.reorgs import VOTES, take_votes
from tokens.following.solana.account_loop import ACCOUNTS, follow_accounts
from tokens.following.solana.pool_loop import POOLS, watch_pools
from tokens.indexing import chain_lock
from tokens.installation.installed_chains import registry

logger = logging.getLogger(__name__)

# How often a standby tries to take over, and a leader looks whether it still leads.
_LOOK_SECONDS = 1.0
# How long all threads may take to end by themselves. What they are at is undone by the database when they are killed.
_PATIENCE_SECONDS = 1.5

_LOOPS = {HEAD: follow_head, HISTORY: follow_history, CHECKS: check_final, VOTES: take_votes}
_SOLANA_LOOPS = {ACCOUNTS: follow_accounts, POOLS: watch_pools}


def follow(chain_ids: Sequence[int], *, stop: Event) -> bool:
    """Follow chains until `stop` is set; says whether all threads have ended by themselves soon after."""
    threads = [
        Thread(target=_take_turns, args=(chain_id, stop), name=f"chain-{chain_id}", daemon=True)
        for chain_id in chain_ids
    ]
    for thread in threads:
        thread.start()
    stop.wait()
    return _end(threads, seconds=_PATIENCE_SECONDS)


def _take_turns(chain_id: int, stop: Event) -> None:
    """Wait until the chain can be led, lead it until that is over, and again."""
    leadership = Leadership(chain_lock.key(chain_lock.Purpose.FOLLOWING, chain_id))
    stands_by = False
    while not stop.is_set():
        try:
            if leadership.claim():
                stands_by = False
                logger.info("chain=%s leads: this process follows it", chain_id)
                _lead(chain_id, leadership, stop)
            elif not stands_by:
                stands_by = True
                logger.info("chain=%s stands by: another process follows it", chain_id)
        except Exception:
            # Whatever it is, the chain must not be without a follower from now on.
            logger.exception("chain=%s the turn failed", chain_id)
        # No other process may begin before.
        leadership.give_up()
        stop.wait(_LOOK_SECONDS)


def _lead(chain_id: int, leadership: Leadership, stop: Event) -> None:
    term = Term(chain_id)
    loops = _SOLANA_LOOPS if chain_id == registry().solana.chain_id else _LOOPS
    threads = [term.start(part, loop) for part, loop in loops.items()]
    while not stop.wait(_LOOK_SECONDS):
        if not leadership.holds():
            logger.warning("chain=%s leads no more: the connection that held its lock is gone", chain_id)
            break
    term.ended.set()
    # No new turn begins while the last one goes on; whatever that still writes is compared before.
    for thread in threads:
        thread.join()


def _end(threads: Iterable[Thread], *, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0))
    return not any(thread.is_alive() for thread in threads)
