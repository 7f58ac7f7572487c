"""Celery's doors to the leaderboard."""

import logging
import time

from django.utils import timezone

from config.celery import app
from leaderboard import hub, pace, pruning, pulling, scores, snapshots
from tokens.following.leadership import HeldElsewhere

logger = logging.getLogger(__name__)

# A new round begins no later than this; the next beat goes on.
ROUNDS_SECONDS = 10.0
# A ranking of ten million facts takes a minute; what takes so much longer will not come to an end.
RANKING_SECONDS = 900


@app.task
def pull_hub() -> None:
    """Pull what is due from the hub, if there is one, as long as there is much of it and time is left."""
    deadline, casts, interactions = time.monotonic() + ROUNDS_SECONDS, 1, 1
    while hub.is_configured() and casts + interactions and time.monotonic() < deadline and not pulling.is_paused():
        casts, interactions = pulling.pull_casts(), pulling.pull_interactions()


@app.task
def note_social_scores() -> None:
    """Keep the scores of creators whose profiles were fetched."""
    noted = scores.note_scores()
    if noted:
        logger.info("noted %s social scores", noted)


@app.task(soft_time_limit=RANKING_SECONDS, time_limit=RANKING_SECONDS + 30)
def make_rankings() -> None:
    """Make the rankings that are due, one after another, unless somebody is at it."""
    for interval in pace.due(timezone.now()):
        try:
            snapshots.compute(interval)
        except HeldElsewhere:
            return


@app.task
def prune_leaderboard() -> None:
    """Delete rankings and facts whose time is over."""
    rankings, facts = pruning.prune_snapshots(), pruning.prune_facts()
    if rankings or facts:
        logger.info("pruned %s rankings and %s facts about agents", rankings, facts)
