"""Celery's doors to the profiles of deployers, to how much keys are used, and to what is past keeping."""

import functools
import logging
import time

from django.contrib.sessions.backends.db import SessionStore

from accounts.administrators import sessions
from accounts.keys import usage
from accounts.profiles import social_provider, social_refresh
from config.celery import app
from config.redis.call_counts import CountsUnavailable

logger = logging.getLogger(__name__)

# A new round begins no later than this; the next beat goes on.
ROUNDS_SECONDS = 20.0


@app.task
def refresh_social_profiles() -> None:
    """Fetch the profiles that are due, as long as there are many of them and time is left."""
    if not social_provider.is_configured():
        say_that_nobody_is_asked()
        return
    deadline, answered, is_full = time.monotonic() + ROUNDS_SECONDS, 0, True
    while is_full and time.monotonic() < deadline:
        count = social_refresh.refresh_due()
        answered, is_full = answered + count, count == social_refresh.BATCH
    if answered:
        logger.info("asked the social provider for %s people", answered)


@functools.cache
def say_that_nobody_is_asked() -> None:
    """Once per process: this is how the installation is meant to be, or a setting that was forgotten."""
    logger.info("no profiles are fetched: neither SOCIAL_API_KEY nor FARCASTER_HUB_URL is set")


@app.task
def store_key_usage() -> None:
    """Bring what was counted in Redis into the rows; what fails waits there for the next time."""
    try:
        usage.store_counted()
    except CountsUnavailable as error:
        logger.warning("the calls of partner keys wait to be stored: %s", error)


@app.task
def prune_key_usage() -> None:
    """Delete the usage of days that are past keeping."""
    pruned = usage.prune()
    if pruned:
        logger.info("pruned %s rows of key usage", pruned)


@app.task
def prune_sessions() -> None:
    """Delete the sessions that are over: of log-ins, and those of administrators."""
    SessionStore.clear_expired()
    sessions.prune()
