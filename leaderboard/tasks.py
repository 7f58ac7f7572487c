"""Celery's doors to the leaderboard."""

import logging
import time
from contextlib import suppress

from django.utils import timezone

from config.celery import app
from config.postgresql.advisory_locks import HeldElsewhere, held
from leaderboard.facts import social_scores
from leaderboard.hub import farcaster_api, pulling
from leaderboard.models import Interval
from leaderboard.ranking import pruning, schedule, snapshot_building

logger = logging.getLogger(__name__)

# A new round begins no later than this; the next beat goes on.
ROUNDS_SECONDS = 10.0
# A ranking of ten million facts takes a minute; what takes so much longer will not come to an end.
RANKING_SECONDS = 900


@app.task
def pull_hub() -> None:
    """Pull what is due from the hub, if there is one, as long as there is much of it and time is left."""
    if not farcaster_api.is_configured():
        return
    # One at a time, however slow the hub is.
    until, looked_at = time.monotonic() + ROUNDS_SECONDS, 1
    with suppress(HeldElsewhere), held(pulling.LOCK):
        while looked_at and time.monotonic() < until and not pulling.PAUSE.is_on():
            looked_at = pulling.pull_casts(until=until)
            if not pulling.PAUSE.is_on():
                looked_at += pulling.pull_interactions(until=until)


@app.task
def note_social_scores() -> None:
    """Keep the scores of creators whose profiles were fetched."""
    noted = social_scores.note_scores()
    if noted:
        logger.info("noted %s social scores", noted)


@app.task
def make_rankings() -> None:
    """Have the rankings made that are due, each by itself: what goes wrong with one is no trouble of another."""
    for interval in schedule.due(timezone.now()):
        make_ranking.apply_async((interval.value,), expires=RANKING_SECONDS)


@app.task(soft_time_limit=RANKING_SECONDS, time_limit=RANKING_SECONDS + 30)
def make_ranking(interval: str) -> None:
    """Make a ranking, unless it is there meanwhile or somebody is at it."""
    wanted = Interval(interval)
    with suppress(HeldElsewhere):
        if wanted in schedule.due(timezone.now()):
            snapshot_building.compute(wanted)


@app.task
def prune_rankings() -> None:
    """Delete rankings that were replaced long ago."""
    pruned = pruning.prune_snapshots()
    if pruned:
        logger.info("pruned %s rankings", pruned)


@app.task
def prune_facts() -> None:
    """Delete facts whose time is over."""
    pruned = pruning.prune_facts()
    if pruned:
        logger.info("pruned %s facts about agents", pruned)
