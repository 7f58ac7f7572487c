"""Celery tasks of the leaderboard."""

import logging
import time
from contextlib import suppress

from django.utils import timezone

from config.celery import app
from config.postgresql.advisory_locks import LockHeldError, session_lock
from leaderboard.facts import social_scores
from leaderboard.hub import farcaster_api, fid_proofs, pulling
from leaderboard.models import Interval
from leaderboard.ranking import pruning, schedule

logger = logging.getLogger(__name__)

# No round starts after this many seconds; the next beat continues.
ROUNDS_SECONDS = 10.0
# A ranking of ten million facts takes a minute; one that takes this long is stuck.
RANKING_SECONDS = 900


@app.task
def pull_hub() -> None:
    """Pull due rows from the hub, in rounds, until nothing is due or time is up."""
    if not farcaster_api.is_configured():
        return
    # The lock allows one puller at a time, however slow the hub is.
    until, processed = time.monotonic() + ROUNDS_SECONDS, 1
    with suppress(LockHeldError), session_lock(pulling.HUB_LOCK):
        while processed and time.monotonic() < until and not pulling.HUB_CIRCUIT_BREAKER.is_open():
            processed = pulling.pull_casts(until=until)
            if not pulling.HUB_CIRCUIT_BREAKER.is_open():
                processed += pulling.pull_interactions(until=until)
            if not pulling.HUB_CIRCUIT_BREAKER.is_open():
                processed += pulling.pull_quotes(until=until)


@app.task
def note_social_scores() -> None:
    """Record the social scores of fetched profiles, and the FIDs that these prove."""
    if farcaster_api.is_configured():
        fid_proofs.prove_by_addresses()
    recorded = social_scores.record_social_scores()
    if recorded:
        logger.info("recorded %s social scores", recorded)


@app.task
def make_rankings() -> None:
    """Enqueue a task for each due ranking, so that one failure does not affect the others.

    While a ranking is being built it enqueues none: they would start processes that find the lock held.
    """
    with suppress(LockHeldError), session_lock(schedule.RANKING_LOCK):
        for interval in schedule.due_intervals(timezone.now()):
            make_ranking.apply_async((interval.value,), expires=RANKING_SECONDS)


@app.task(soft_time_limit=RANKING_SECONDS, time_limit=RANKING_SECONDS + 30)
def make_ranking(interval: str) -> None:
    """Build a ranking, unless it is no longer due or another process is building one."""
    wanted = Interval(interval)
    if wanted in schedule.due_intervals(timezone.now()):
        schedule.build_in_own_process(wanted)


@app.task
def prune_rankings() -> None:
    """Delete rankings that were replaced long ago."""
    pruned = pruning.prune_snapshots()
    if pruned:
        logger.info("pruned %s rankings", pruned)


@app.task
def prune_facts() -> None:
    """Delete facts past their retention."""
    pruned = pruning.prune_facts()
    if pruned:
        logger.info("pruned %s facts about agents", pruned)
