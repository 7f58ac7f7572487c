"""Celery tasks for trades."""

import logging

from django.utils import timezone

from config.celery import app
from config.postgresql import partitions
from config.postgresql.advisory_locks import LockHeldError
from tokens.trades import quote_rates

logger = logging.getLogger(__name__)


@app.task(name="tokens.tasks.maintain_partitions")
def maintain_partitions() -> None:
    """Create partitions for the next weeks, and drop partitions past their retention, unless a run is under way."""
    try:
        created, dropped = partitions.maintain_partitions(timezone.now())
    except LockHeldError:
        return
    if created or dropped:
        logger.info("partitions created: %s; dropped: %s", ", ".join(created) or "none", ", ".join(dropped) or "none")


@app.task(name="tokens.tasks.prune_reference_prices")
def prune_reference_prices() -> None:
    """Delete reference prices older than 90 days."""
    pruned = quote_rates.prune_reference_prices()
    if pruned:
        logger.info("pruned %s reference prices", pruned)
