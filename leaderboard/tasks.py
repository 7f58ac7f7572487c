"""Leaderboard Celery tasks."""

import logging
import time
from contextlib import suppress

from django.utils import timezone

from config.celery import app
from config.postgresql.advisory_locks import LockHeldError, session_lock
from leaderboard.facts import social_scores
from leaderboard.hub import farcaster_api, pulling
from leaderboard.models import Interval
from leaderboard.ranking import pruning, schedule

logger = logging.getLogger(__name__)

# No round starts after this many seconds; the next beat continues.
ROUNDS_SECONDS = 10.0


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
    """Record social scores from fetched profiles."""
    recorded = social_scores.record_social_scores()
    if recorded:
        logger.info("recorded %s social scores", recorded)


@app.task
def make_rankings() -> None:
    """Start building the due rankings, unless a build is running here or elsewhere.

    Raises CalledProcessError if the previous build failed. The list of due rankings starts with another one each time,
    so that a failure does not affect the others for long.
    """
    if not schedule.is_building():
        with suppress(LockHeldError):
            with session_lock(schedule.RANKING_LOCK):
                intervals = schedule.due_intervals(timezone.now())
            if intervals:
                schedule.start_build(intervals)


@app.task
def make_ranking(interval: str) -> None:
    """Start building a due ranking. Only the previous version sends this task."""
    due_interval = Interval(interval)
    if not schedule.is_building() and due_interval in schedule.due_intervals(timezone.now()):
        schedule.start_build([due_interval])


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
