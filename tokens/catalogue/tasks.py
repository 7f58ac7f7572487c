"""Celery tasks for token list totals."""

import logging
from typing import Any

from redis.exceptions import RedisError

from config.celery import app, enqueue_task
from tokens.catalogue import totals
from tokens.catalogue.selections import Selection

logger = logging.getLogger(__name__)


def enqueue_count(selection: Selection) -> None:
    """Enqueue a selection's count, unless another count is in progress: counts are slow and delay indexing."""
    if not totals.claim_count():
        return
    try:
        enqueue_task(count_selection, selection.conditions, expires=totals.REFRESH_AFTER_SECONDS)
    except RedisError as error:
        logger.warning("can't enqueue a count: %s", error)


@app.task(name="tokens.tasks.count_selection")
def count_selection(conditions: dict[str, Any]) -> None:
    """Count a selection that exceeds a request's limit, and cache the total."""
    number = totals.count_tokens(Selection.of(conditions))
    if number is None:
        logger.warning("count of %s timed out: its total remains an estimate", conditions)
    else:
        logger.info("counted %s tokens", number)
