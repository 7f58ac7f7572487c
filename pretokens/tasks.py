"""Celery's door to pretokens."""

import logging

from config.celery import app
from pretokens import lifecycle

logger = logging.getLogger(__name__)


@app.task
def prune_pretokens() -> None:
    """Delete what is past keeping."""
    pruned = lifecycle.prune()
    if pruned:
        logger.info("pruned %s pretokens", pruned)


@app.task
def expire_pretokens() -> None:
    """Mark pretokens whose time is past; they count as expired before, too."""
    expired = lifecycle.expire_overdue()
    if expired:
        logger.info("%s pretokens expired", expired)
