"""Celery task that fetches token pictures."""

import logging

from config.celery import app
from config.postgresql.advisory_locks import LockHeldError
from tokens.site.pictures.wanted_pictures import fetch_wanted_pictures

logger = logging.getLogger(__name__)


@app.task(name="tokens.tasks.fetch_pictures")
def fetch_pictures() -> None:
    """Fetch the pictures that pages showed, unless a round is running."""
    try:
        fetched = fetch_wanted_pictures()
    except LockHeldError:
        return
    if fetched:
        logger.info("fetched %s pictures of tokens", fetched)
