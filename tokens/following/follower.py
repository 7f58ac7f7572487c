"""The follower process: leader election for each chain, and a thread for each leader loop."""

import logging
from collections.abc import Sequence
from threading import Event, Thread

from config.http.request_ids import begin_request
from config.postgresql.advisory_locks import SessionLock
from config.processes.heartbeats import Heartbeat
from tokens.following.head import HEAD, follow_head
from tokens.following.history import HISTORY, follow_history
from tokens.following.leader_loops import LeaderSession
from tokens.following.market_loop import MARKET, keep_markets
from tokens.following.reorgs import VOTES, poll_votes
from tokens.following.solana.account_loop import ACCOUNTS, follow_accounts
from tokens.following.solana.pool_loop import POOLS, watch_pools
from tokens.following.verifying.verification import CHECKS, verify_final
from tokens.indexing import chain_lock
from tokens.installation.installed_registry import registry

logger = logging.getLogger(__name__)

# Seconds between a standby's attempts to take over, and between a leader's checks that it still leads.
_LOOK_SECONDS = 1.0

_LOOPS = {HEAD: follow_head, HISTORY: follow_history, CHECKS: verify_final, VOTES: poll_votes, MARKET: keep_markets}
_SOLANA_LOOPS = {ACCOUNTS: follow_accounts, POOLS: watch_pools, MARKET: keep_markets}


def follow_chains(chain_ids: Sequence[int], *, stop: Event) -> None:
    """Follow chains until `stop` is set and all threads have ended. A thread may still block on a node."""
    threads = [
        Thread(target=_compete_for_leadership, args=(chain_id, stop), name=f"chain-{chain_id}", daemon=True)
        for chain_id in chain_ids
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _compete_for_leadership(chain_id: int, stop: Event) -> None:
    """Claim a chain's leadership, lead until it ends, and repeat."""
    leadership = SessionLock(chain_lock.chain_lock_key(chain_lock.ChainLockPurpose.FOLLOWING, chain_id))
    heartbeat = Heartbeat(f"chain-{chain_id}")
    is_standby = False
    while not stop.is_set():
        begin_request()
        heartbeat.beat()
        try:
            if leadership.claim():
                is_standby = False
                logger.info("chain=%s leader: this process follows it", chain_id)
                _lead(chain_id, leadership, stop, heartbeat)
            elif not is_standby:
                is_standby = True
                logger.info("chain=%s standby: another process follows it", chain_id)
        except Exception:
            # Any failure: the chain must not stay without a follower.
            logger.exception("chain=%s the session failed", chain_id)
        # Another process can only lead after this.
        leadership.close()
        stop.wait(_LOOK_SECONDS)


def _lead(chain_id: int, leadership: SessionLock, stop: Event, heartbeat: Heartbeat) -> None:
    session = LeaderSession(chain_id)
    loops = _SOLANA_LOOPS if chain_id == registry().solana.chain_id else _LOOPS
    threads = [session.start(name, loop) for name, loop in loops.items()]
    while not stop.wait(_LOOK_SECONDS):
        heartbeat.beat()
        if not leadership.is_held():
            logger.warning("chain=%s leadership lost: the connection that held its lock is gone", chain_id)
            break
    session.ended.set()
    # The next session begins when the last one has ended; its late writes fail their comparison.
    for thread in threads:
        thread.join()
