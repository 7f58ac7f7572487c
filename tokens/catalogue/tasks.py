"""Celery tasks for totals of token lists."""

import logging

from redis.exceptions import RedisError

from config.celery import app, enqueue_task
from tokens.catalogue import totals
from tokens.catalogue.selections import Selection

logger = logging.getLogger(__name__)


def enqueue_count(selection: Selection) -> None:
    """Enqueue a count of a selection, unless another one is in progress: counts are slow and delay indexing."""
    if not totals.claim_count():
        return
    try:
        values = [list(pair) for pair in selection.values]
        enqueue_task(count_selection, selection.filter_set, values, expires=totals.REFRESH_AFTER_SECONDS)
    except RedisError as error:
        logger.warning("can't enqueue a count: %s", error)


@app.task(name="tokens.tasks.count_selection")
def count_selection(filter_set: str, values: list[tuple[str, str]]) -> None:
    """Count a selection that exceeds the limit of a request and cache the total."""
    number = totals.count_tokens(Selection(filter_set, tuple((name, value) for name, value in values)))
    if number is None:
        logger.warning("count of %s timed out: its total remains an estimate", dict(values))
    else:
        logger.info("counted %s tokens", number)
