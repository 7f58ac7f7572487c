"""A leader's market loop: each full minute, old trades leave the rolling sums, and USD prices are checked."""

import time
from collections.abc import Sequence

from django.db import connections, transaction
from django.utils import timezone

from config.http.request_ids import begin_request
from tokens.chains.registry.chains import ChainInfo
from tokens.following.leader_loops import LeaderSession
from tokens.indexing import chain_lock
from tokens.installation.installed_registry import registry
from tokens.installation.market_sources import has_own_trades
from tokens.trades.market_rows import find_stale_markets, refresh_markets
from tokens.trades.reference_check import compare_references
from tokens.trades.rolling_sums import roll

# The name of this loop among the failures.
MARKET = "market"

_MINUTE_SECONDS = 60
# The most markets that are priced anew in a transaction: meanwhile no block is written.
_BATCH = 500


def keep_markets(session: LeaderSession) -> None:
    """Roll sums, price markets anew and compare reference prices at each full minute, until the session ends."""
    chain = registry().chains[session.chain_id]
    alarm = ""
    while not session.ended.is_set():
        begin_request()
        if has_own_trades(chain.chain_id):
            roll_to_now(chain)
            reprice_markets(chain)
            alarm = compare_references(chain, logged=alarm)
        session.failures.clear(MARKET)
        # Closed between two rounds: database connections are few, and this loop needs one only for a moment.
        connections.close_all()
        session.ended.wait(_MINUTE_SECONDS - time.time() % _MINUTE_SECONDS)


def roll_to_now(chain: ChainInfo) -> None:
    """Move a chain's rolling sums to the current minute, and refresh the markets whose sums changed.

    A step is a short transaction, after which a block can be written.
    """
    minute = timezone.now().replace(second=0, microsecond=0)
    rolled_to = None
    while rolled_to is None or rolled_to < minute:
        with transaction.atomic():
            chain_lock.lock_exclusive(chain.chain_id)
            rolled_to, token_ids = roll(chain.chain_id, minute)
            refresh_markets(chain, token_ids)


def reprice_markets(chain: ChainInfo) -> None:
    """Refresh the markets that are priced with a stale quote token rate, in short transactions."""
    stale = find_stale_markets(chain)
    for start in range(0, len(stale), _BATCH):
        _refresh_batch(chain, stale[start : start + _BATCH])


def _refresh_batch(chain: ChainInfo, token_ids: Sequence[int]) -> None:
    with transaction.atomic():
        chain_lock.lock_exclusive(chain.chain_id)
        refresh_markets(chain, token_ids)
