"""Celery tasks for fees."""

import logging

from config.celery import app
from tokens.fees.fee_sums import fill_sums
from tokens.installation.installed_registry import registry

logger = logging.getLogger(__name__)

# Less than the task's interval, so that the worker's other tasks can run.
_SECONDS = 20.0


@app.task(name="tokens.tasks.fill_fee_sums")
def fill_fee_sums() -> None:
    """Sum the fees from events that were stored before the sums, until each chain is complete."""
    for chain_id in sorted(fill_sums(registry().chains, seconds=_SECONDS)):
        logger.info("chain %s: fees of all stored events are summed", chain_id)
