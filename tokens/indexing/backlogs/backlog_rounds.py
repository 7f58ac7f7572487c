"""Rounds over due pool backlogs: the quote token's decimals are requested again, then the pool's logs are read."""

import logging
import time
from datetime import timedelta

from django.utils import timezone

from config.http.backoff import Backoff
from config.http.errors import PermanentError, RetryableError
from tokens.indexing import index_requests
from tokens.indexing.backlogs.known_decimals import has_decimals
from tokens.indexing.backlogs.pool_backlogs import read_backlog
from tokens.installation.installed_chains import installed_chain
from tokens.models import LaunchFacts, PoolBacklog

logger = logging.getLogger(__name__)

# Most quote tokens without decimals are no tokens, so a day is the longest delay.
BACKOFF = Backoff(first=60, longest=86_400)
LEASE = timedelta(seconds=300)
# The most backlogs in a round, and the seconds after which it begins no other part: the rest is due at once, and other
# tasks have their turn.
BATCH_SIZE, ROUND_SECONDS = 20, 20.0


def read_due_backlogs() -> int:
    """Read the backlogs that are due, as far as a round's time lasts; return how many ended."""
    end = time.monotonic() + ROUND_SECONDS
    due = PoolBacklog.objects.select_related("token__launch")
    return sum(_read(backlog, end) for backlog in due.claim(timezone.now(), lease=LEASE, count=BATCH_SIZE))


def _read(backlog: PoolBacklog, end: float) -> bool:
    """Read one backlog until it ends or the round's time is over; store a failure. Return whether it has ended."""
    held, token = PoolBacklog.objects.held([backlog]), backlog.token
    if token.unindexed:
        # A relaunch opens its own.
        return bool(held.delete()[0])
    try:
        _require_decimals(backlog)
        chain = installed_chain(token.chain_id)
        while time.monotonic() < end:
            if not read_backlog(backlog, chain):
                return True
    except (RetryableError, PermanentError) as error:
        _postpone(backlog, error)
    else:
        held.release(due_at=timezone.now())
    return False


def _postpone(backlog: PoolBacklog, error: Exception) -> None:
    """Store a failed attempt, which is repeated after the back-off."""
    due_at = timezone.now() + timedelta(seconds=BACKOFF.delay(backlog.attempts + 1))
    PoolBacklog.objects.held([backlog]).fail(error, due_at=due_at)
    logger.info("backlog of token %s is read later: %s", backlog.pk, error)


def _require_decimals(backlog: PoolBacklog) -> None:
    """Index the launch again once its quote token returns its decimals. Raises PermanentError while it does not."""
    token = backlog.token
    if has_decimals(token):
        return
    # One call, as long as nothing has changed.
    if installed_chain(token.chain_id).read_decimals(token.paired_token) is not None:
        index_requests.index_transaction(chain_id=token.chain_id, tx_hash=token.tx_hash)
        token.launch = LaunchFacts.objects.get(token=token)
    if not has_decimals(token):
        raise PermanentError(f"the quote token {token.paired_token} returns no decimals")
