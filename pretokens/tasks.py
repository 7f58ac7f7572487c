"""Celery tasks for pretokens."""

import logging

from config.celery import app
from pretokens import lifecycle

logger = logging.getLogger(__name__)


@app.task
def prune_pretokens() -> None:
    """Delete pretokens past their retention time."""
    pruned = lifecycle.prune_ended()
    if pruned:
        logger.info("pruned %s pretokens", pruned)


@app.task
def expire_pretokens() -> None:
    """Mark overdue pretokens as expired; queries exclude them before that, too."""
    expired = lifecycle.expire_overdue()
    if expired:
        logger.info("%s pretokens expired", expired)
