"""Celery's door to the profiles of deployers."""

import functools
import logging
import time

from accounts import profiles, social_provider
from config.celery import app

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
        count = profiles.refresh_due()
        answered, is_full = answered + count, count == profiles.BATCH
    if answered:
        logger.info("asked the social provider for %s people", answered)


@functools.cache
def say_that_nobody_is_asked() -> None:
    """Once per process: this is how the installation is meant to be, or a setting that was forgotten."""
    logger.info("no profiles are fetched: neither SOCIAL_API_KEY nor FARCASTER_HUB_URL is set")
